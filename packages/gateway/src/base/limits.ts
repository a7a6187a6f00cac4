import { DEFAULT_LIMITS } from "@countersign/core";

/** The limits of a listener. Each one has a default, which the configuration can change. */
export type ListenLimits = {
  /** Concurrent connections. */
  readonly connections: number;
  /** Concurrent connections of one address; an IPv6 /64 network counts as one. */
  readonly connectionsPerAddress: number;
  /**
   * Networks whose proxies are trusted to report the client's address; their own connections are
   * not counted.
   */
  readonly trustedProxies: readonly string[];
  /** Concurrent runs of one principal. */
  readonly runsPerPrincipal: number;
  /** Bytes of a request's head. */
  readonly headerBytes: number;
  /** Milliseconds for a request's head. */
  readonly headersTimeoutMs: number;
  /** Milliseconds for a whole request. */
  readonly requestTimeoutMs: number;
  /** Milliseconds a connection may wait for its next request. */
  readonly keepAliveMs: number;
  /** Bytes of a request's body. */
  readonly bodyBytes: number;
  /** Bytes of a message on a WebSocket. */
  readonly frameBytes: number;
  /** Messages per second on one WebSocket; a burst may have twice as many. */
  readonly messagesPerSecond: number;
  /** Milliseconds a WebSocket may be open without a run and without a message. */
  readonly socketIdleMs: number;
  /** Milliseconds in which a WebSocket without a credential must send one. */
  readonly authTimeoutMs: number;
  /** Milliseconds a run continues without its client, when the stream is resumable; 0 for none. */
  readonly reconnectGraceMs: number;
  /** Characters of one stream buffered for a client that resumes. */
  readonly reconnectBytes: number;
  /** The same for all streams together; above it a stream ends with its connection. */
  readonly reconnectTotalBytes: number;
  /** Concurrent relays of other gateways' streams. */
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

/** The default limits. */
export const DEFAULT_LISTEN_LIMITS: ListenLimits = Object.freeze({
  connections: 10_000,
  connectionsPerAddress: 256,
  // A peer on this machine is most likely a reverse proxy for all clients.
  trustedProxies: Object.freeze(["127.0.0.0/8", "::1/128"]),
  runsPerPrincipal: 256,
  // A typical token has 1.1 KB, and may come in a header and in a sub-protocol.
  headerBytes: 16 * 1024,
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 30_000,
  // Common load balancers keep connections for 60 s; when they close first, no request is lost.
  keepAliveMs: 65_000,
  bodyBytes: 10 * MEBIBYTE,
  frameBytes: 10 * MEBIBYTE,
  messagesPerSecond: 200,
  socketIdleMs: 600_000,
  authTimeoutMs: 10_000,
  // A phone that changes networks is back within seconds; an agent without a client costs money.
  reconnectGraceMs: 30_000,
  // A dead connection may swallow half of it before the gateway notices.
  reconnectBytes: MEBIBYTE,
  reconnectTotalBytes: 64 * MEBIBYTE,
  // As many as may wait for their clients at the gateway that has them.
  relays: 1000,
  // Agents that research or write code work for hours; no known agent works on one request for a
  // day.
  runMs: 86_400_000,
  // A tool that builds or searches takes minutes. An agent without an event for half an hour is
  // stuck.
  runSilenceMs: 1_800_000,
  // A response of 100,000 words is some 150,000 events where each token is one.
  runEvents: 1_000_000,
  // A million events of 1 KB.
  runBytes: 1024 * MEBIBYTE,
  // Encrypted reasoning and thought signatures of known models have a hundred bytes to some hundred
  // kilobytes.
  encryptedBytes: MEBIBYTE,
  eventValues: DEFAULT_LIMITS.maxEventValues,
});
