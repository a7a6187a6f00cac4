import { DEFAULT_LIMITS } from "@countersign/core";

/** A limit of the listener: its name in `countersign.yaml`, its default and range in the unit of the file, and its meaning. */
export type NumberLimit<Name extends string = string> = {
  readonly name: Name;
  readonly standard: number;
  readonly minimum: number;
  readonly maximum: number;
  readonly description: string;
  /** Factor from the unit of the file to that of {@link ListenLimits}: the file has seconds, the gateway milliseconds. */
  readonly scale: number;
};

function count<Name extends string>(
  name: Name,
  standard: number,
  [minimum, maximum]: readonly [number, number],
  description: string,
): NumberLimit<Name> {
  return { name, standard, minimum, maximum, description, scale: 1 };
}

function seconds<Name extends string>(
  ...row: Parameters<typeof count<Name>>
): ReturnType<typeof count<Name>> {
  return { ...count(...row), scale: 1000 };
}

const MEBIBYTE = 1024 * 1024;
const GIBIBYTE = 1024 * MEBIBYTE;
const DAY = 86_400;
const MILLION: readonly [number, number] = [1, 1_000_000];
/** Up to the official client's own limit: it can read nothing larger. */
const CLIENT_BYTES: readonly [number, number] = [1024, 10 * MEBIBYTE];

/** Every limit that is a number. */
export const NUMBER_LIMITS = {
  connections: count("connections", 10_000, MILLION, "Connections at once"),
  // An IPv6 /64 network counts as one address.
  connectionsPerAddress: count(
    "connections_per_address",
    256,
    MILLION,
    "Connections at once from one address, or open requests of one behind a trusted proxy",
  ),
  runsPerPrincipal: count("runs_per_principal", 256, MILLION, "Runs at once of one principal"),
  // A typical token has 1.1 KB, and may come in a header and in a sub-protocol.
  headerBytes: count("header_bytes", 16 * 1024, [1024, MEBIBYTE], "Bytes of a request's head"),
  headersTimeoutMs: seconds(
    "headers_timeout",
    10,
    [0.1, 3600],
    "Seconds in which a request's head must be whole",
  ),
  requestTimeoutMs: seconds(
    "request_timeout",
    30,
    [0.1, 3600],
    "Seconds in which a request must be whole",
  ),
  // Common load balancers keep connections for 60 s; when they close first, no request is lost.
  keepAliveMs: seconds(
    "keep_alive",
    65,
    [0.1, 3600],
    "Seconds a connection may wait for its next request",
  ),
  bodyBytes: count("body_bytes", 10 * MEBIBYTE, CLIENT_BYTES, "Bytes of a request's body"),
  frameBytes: count(
    "frame_bytes",
    10 * MEBIBYTE,
    CLIENT_BYTES,
    "Bytes of a message on a WebSocket",
  ),
  // A burst may have twice as many.
  messagesPerSecond: count(
    "messages_per_second",
    200,
    [1, 100_000],
    "Messages a second on one WebSocket",
  ),
  socketIdleMs: seconds(
    "socket_idle",
    600,
    [1, DAY],
    "Seconds a WebSocket may be open without a run and without a message",
  ),
  authTimeoutMs: seconds(
    "auth_timeout",
    10,
    [0.1, 300],
    "Seconds in which a WebSocket must say who it is",
  ),
  // A phone that changes networks is back within seconds; an agent without a client costs money.
  reconnectGraceMs: seconds(
    "reconnect_grace",
    30,
    [0, 3600],
    "Seconds a run goes on without its client, if that asked to be able to come back; 0 for none",
  ),
  // A dead connection may swallow half of it before the gateway notices.
  reconnectBytes: count(
    "reconnect_bytes",
    MEBIBYTE,
    [1024, 64 * MEBIBYTE],
    "Bytes of one stream kept for a client that comes back",
  ),
  // Above it a stream ends with its connection.
  reconnectTotalBytes: count(
    "reconnect_total_bytes",
    64 * MEBIBYTE,
    [1024, 64 * GIBIBYTE],
    "Bytes kept for all clients that may come back",
  ),
  // As many as may wait for their clients at the gateway that has them.
  followedStreams: count(
    "followed_streams",
    1000,
    MILLION,
    "Streams of other gateways sent at once to clients that came back here",
  ),
  // Agents that research or write code work for hours; no known agent works on one request for a day.
  runMs: seconds("run_timeout", DAY, [1, 7 * DAY], "Seconds one run may take"),
  // A tool that builds or searches takes minutes. An agent without an event for half an hour is stuck.
  runSilenceMs: seconds(
    "run_silence",
    1800,
    [1, DAY],
    "Seconds an agent may go without an event while it sends keep-alive comments; at least its idle_timeout",
  ),
  // A response of 100,000 words is some 150,000 events where each token is one.
  runEvents: count(
    "run_events",
    1_000_000,
    [1, 1_000_000_000],
    "Events an agent may send in one run",
  ),
  // A million events of 1 KB.
  runBytes: count(
    "run_bytes",
    GIBIBYTE,
    [1024, 1024 * GIBIBYTE],
    "Bytes an agent may send in one run",
  ),
  // Encrypted reasoning and thought signatures of known models have a hundred bytes to some hundred kilobytes.
  encryptedBytes: count(
    "encrypted_value_bytes",
    MEBIBYTE,
    [256, 10 * MEBIBYTE],
    "Bytes of one encrypted value (reasoning, signatures) of an agent",
  ),
  eventValues: count(
    "event_values",
    DEFAULT_LIMITS.maxEventValues,
    [1000, 10_000_000],
    "JSON values of one event of an agent; while one event is judged, every other run waits",
  ),
} as const;

/** The limits of a listener; times in milliseconds. Each one has a default, which the configuration can change. */
export type ListenLimits = { readonly [Limit in keyof typeof NUMBER_LIMITS]: number } & {
  /** Networks whose proxies are trusted to report the client's address; their own connections are not counted. */
  readonly trustedProxies: readonly string[];
};

/** The default limits. */
export const DEFAULT_LISTEN_LIMITS: ListenLimits = Object.freeze({
  ...(Object.fromEntries(
    Object.entries(NUMBER_LIMITS).map(([limit, { standard, scale }]) => [limit, standard * scale]),
  ) as Record<keyof typeof NUMBER_LIMITS, number>),
  // A peer on this machine is most likely a reverse proxy for all clients.
  trustedProxies: Object.freeze(["127.0.0.0/8", "::1/128"]),
});
