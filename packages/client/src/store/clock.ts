/** Time comes in through this door. */
export type ClientClock = {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once after a delay; returns how to call it off. */
  after(milliseconds: number, callback: () => void): () => void;
};

/** The runtime's own clock. */
export const SYSTEM_CLOCK: ClientClock = {
  now: () => Date.now(),
  after: (milliseconds, callback) => {
    const timer = setTimeout(callback, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** Resolves after a delay, or as soon as the signal aborts. */
export function sleep(
  clock: ClientClock,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = clock.after(milliseconds, done);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    }
    return undefined;
  });
}
