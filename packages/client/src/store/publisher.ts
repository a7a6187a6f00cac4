import type { Schedule } from "./schedule.js";

/** Holds one snapshot and notifies listeners of each new one. */
export type Publisher<Snapshot> = {
  getSnapshot(): Snapshot;
  subscribe(listener: () => void): () => void;
  /** Marks a change that may wait for the next frame. */
  touch(): void;
  /** Publishes a change that a person must see at once. */
  publish(): void;
  /** Cancels the pending notification. */
  close(): void;
};

/**
 * Creates a publisher over a function that builds a snapshot and returns the same one while nothing
 * changed.
 *
 * While there is a listener, the snapshot changes only together with a notification, so components
 * drawn in the same frame see the same snapshot.
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
    // A copy: a listener added during the notification has already seen this snapshot.
    const notified = [...listeners];
    for (const listener of notified) {
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
