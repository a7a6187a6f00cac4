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
