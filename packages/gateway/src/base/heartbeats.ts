/** Milliseconds between two signs of life; proxies in the field cut idle streams after 29 s or more. */
export const HEARTBEAT_MS = 15_000;

/**
 * Signs of life in a row that may go unread before a client is let go. A peer that vanished without a
 * word looks like one that does not read; without an end it would keep its agent for ever.
 */
export const MAX_UNREAD_BEATS = 4;

type Beating = { heartbeat(): void };

/** One timer for all open streams: a timer each would cost memory per idle stream. */
export type Heartbeats = {
  add(stream: Beating): void;
  remove(stream: Beating): void;
  stop(): void;
};

/** Starts the common timer; it does not keep the process alive. */
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
