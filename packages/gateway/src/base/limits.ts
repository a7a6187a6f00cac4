import { DEFAULT_LIMITS } from "@countersign/core";

/** The bounds of a listener; every one is on unless the configuration says another number. */
export type ListenLimits = {
  /** Connections at once. */
  readonly connections: number;
  /** Connections at once from one address; an IPv6 network of 64 bits counts as one. */
  readonly connectionsPerAddress: number;
  /** Networks whose word about the client's address is taken; their own connections are not counted. */
  readonly trustedProxies: readonly string[];
  /** Runs at once of one principal. */
  readonly runsPerPrincipal: number;
  /** Bytes of a request's head. */
  readonly headerBytes: number;
  /** Milliseconds in which a request's head must be whole. */
  readonly headersTimeoutMs: number;
  /** Milliseconds in which a whole request must be there. */
  readonly requestTimeoutMs: number;
  /** Milliseconds a connection may wait for its next request. */
  readonly keepAliveMs: number;
  /** Bytes of a request's body. */
  readonly bodyBytes: number;
  /** Bytes of a message on a WebSocket. */
  readonly frameBytes: number;
  /** Messages a second on one WebSocket; twice as many may come at once. */
  readonly messagesPerSecond: number;
  /** Milliseconds a WebSocket may be open without a run and without a message. */
  readonly socketIdleMs: number;
  /** Milliseconds in which a WebSocket without a credential must send one. */
  readonly authTimeoutMs: number;
  /** Milliseconds a run goes on without its client, where that client asked to be able to come back; 0 for none. */
  readonly reconnectGraceMs: number;
  /** Characters of one stream kept for a client that comes back. */
  readonly reconnectBytes: number;
  /** The same for all streams together; beyond that a stream ends with its connection. */
  readonly reconnectTotalBytes: number;
  /** Streams of other gateways passed on to clients that came back here. */
  readonly relays: number;
  /** Milliseconds one run may take. */
  readonly runMs: number;
  /** Milliseconds an agent may go without an event while it sends keep-alive comments. */
  readonly runSilenceMs: number;
  /** Events of one run. */
  readonly runEvents: number;
  /** Bytes an agent may send in one run. */
  readonly runBytes: number;
  /** UTF-8 bytes of one encrypted value of an agent. */
  readonly encryptedBytes: number;
  /** JSON values of one event of an agent. */
  readonly eventValues: number;
};

const MEBIBYTE = 1024 * 1024;

/** The bounds where nothing else is configured. */
export const DEFAULT_LISTEN_LIMITS: ListenLimits = Object.freeze({
  connections: 10_000,
  connectionsPerAddress: 256,
  // A peer on this machine is most likely a proxy in front of everybody.
  trustedProxies: Object.freeze(["127.0.0.0/8", "::1/128"]),
  runsPerPrincipal: 256,
  // A token of the field is 1.1 KB, and may come in a header and in a sub-protocol.
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  // Load balancers of the field keep connections for 60 s; the side that hangs up first loses no request.
  keepAliveMs: 65_000,
  bodyBytes: 10 * MEBIBYTE,
  frameBytes: 10 * MEBIBYTE,
  messagesPerSecond: 200,
  socketIdleMs: 600_000,
  authTimeoutMs: 10_000,
  // A phone that changes networks is back within seconds; an agent that nobody hears costs money.
  reconnectGraceMs: 30_000,
  // Half of it is what a dead connection may swallow before it is noticed.
  reconnectBytes: MEBIBYTE,
  reconnectTotalBytes: 64 * MEBIBYTE,
  // As many as may wait for their clients at the gateway that has them.
  relays: 1000,
  // Agents that research or write code work for hours; none of the field answers one request for a day.
  runMs: 86_400_000,
  // A tool that builds or searches takes minutes. An agent that says nothing of its work for half an hour is stuck.
  runSilenceMs: 1_800_000,
  // An answer of 100,000 words is some 150,000 events where each token is one.
  runEvents: 1_000_000,
  // A million events of 1 KB.
  runBytes: 1024 * MEBIBYTE,
  // Encrypted reasoning and thought signatures of the field have some hundred bytes to some hundred kilobytes.
  encryptedBytes: MEBIBYTE,
  eventValues: DEFAULT_LIMITS.maxEventValues,
});
