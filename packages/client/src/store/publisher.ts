import type { Schedule } from "./schedule.js";

/** Keeps one snapshot and tells listeners when there is another. */
export type Publisher<Snapshot> = {
  getSnapshot(): Snapshot;
  subscribe(listener: () => void): () => void;
  /** Something changed that may wait for the next frame. */
  touch(): void;
  /** Something changed that a person must see at once. */
  publish(): void;
  /** Calls off what waits. */
  close(): void;
};

/**
 * Makes a publisher over a function that builds a snapshot and returns the same one while nothing
 * changed.
 *
 * While somebody listens, the snapshot changes only together with a notification: a component that is
 * drawn in the middle of a frame sees what the others see.
 */
export function createPublisher<Snapshot>(
  build: (previous: Snapshot | undefined) => Snapshot,
  schedule: Schedule,
): Publisher<Snapshot> {
  const listeners = new Set<{ readonly call: () => void }>();
  let current = build(undefined);
  let dirty = false;
  let cancel: (() => void) | undefined;

  function refresh(): boolean {
    dirty = false;
    const previous = current;
    current = build(previous);
    return current !== previous;
  }

  function publish(): void {
    cancel?.();
    cancel = undefined;
    if (!refresh()) return;
    // A copy: whoever is added while others are told has seen this snapshot already.
    const told = [...listeners];
    for (const listener of told) {
      try {
        if (listeners.has(listener)) listener.call();
      } catch (error) {
        // One broken component must neither stop the stream nor hide the news from the others.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  return {
    getSnapshot() {
      if (dirty && listeners.size === 0) refresh();
      return current;
    },
    subscribe(call) {
      if (listeners.size === 0 && dirty) refresh();
      const listener = { call };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    touch() {
      dirty = true;
      if (listeners.size > 0) cancel ??= schedule(publish);
    },
    publish,
    close() {
      cancel?.();
      cancel = undefined;
    },
  };
}
