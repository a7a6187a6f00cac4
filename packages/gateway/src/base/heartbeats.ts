/**
 * Milliseconds between two heartbeats; proxies in production cut idle streams after 29 s or more.
 */
export const HEARTBEAT_MS = 15_000;

/**
 * Unread heartbeats in a row before the gateway disconnects a client. A peer that vanished silently
 * looks like one that does not read, and would otherwise keep its agent forever.
 */
export const MAX_UNREAD_BEATS = 4;

type Beating = { heartbeat(): void };

/** One timer for all open streams: one timer each would cost memory per idle stream. */
export type Heartbeats = {
  add(stream: Beating): void;
  remove(stream: Beating): void;
  stop(): void;
};

/** Starts the shared timer, which does not keep the process alive. */
export function createHeartbeats(everyMs: number = HEARTBEAT_MS): Heartbeats {
  const streams = new Set<Beating>();
  const timer = setInterval(() => {
    for (const stream of streams) stream.heartbeat();
  }, everyMs);
  timer.unref();
  return {
    add: (stream) => void streams.add(stream),
    remove: (stream) => void streams.delete(stream),
    stop: () => clearInterval(timer),
  };
}

/** Bytes that may be queued for a peer before its pings get no response. */
export const MAX_UNREAD_BYTES = 256 * 1024;

/** The part of a socket that pings need. The type of `ws` would make every user of this package install its types. */
type PingedSocket = {
  readonly bufferedAmount: number;
  on(event: "ping", listener: (data: Uint8Array) => void): unknown;
  pong(data: Uint8Array, mask: undefined, done: () => void): void;
};

/**
 * Answers the pings of a peer that reads. The library's automatic pongs must be off.
 *
 * For a peer that only writes, pongs would queue without limit: 900 MB in eight seconds, measured.
 * A ping may go unanswered where a later one follows (RFC 6455, section 5.5.3).
 */
export function answerPings(socket: PingedSocket): void {
  socket.on("ping", (data) => {
    if (socket.bufferedAmount <= MAX_UNREAD_BYTES) socket.pong(data, undefined, ignore);
  });
}

function ignore(): void {}
