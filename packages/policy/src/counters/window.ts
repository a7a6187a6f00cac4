/**
 * Slices of a window. A slice counts until all of it has left, so a window never exceeds its cap.
 */
export const WINDOW_SLICES = 64;

/** Counts events over a sliding window. */
export type WindowCounter = {
  /** Events in the window that ends now. */
  used(now: number): number;
  /** Counts this many events, default one; `at` is the time of the last of them, now or earlier. */
  add(now: number, count?: number, at?: number): void;
  /** Whether the window is empty. */
  isIdle(now: number): boolean;
  toJSON(): WindowSnapshot;
};

/** The state of a counter. */
export type WindowSnapshot = { readonly slice: number; readonly counts: readonly number[] };

/** Starts empty, or from a snapshot. Time that runs backwards is treated as standing still. */
export function createWindowCounter(windowMs: number, snapshot?: WindowSnapshot): WindowCounter {
  const sliceMs = windowMs / WINDOW_SLICES;
  // One slice more than the window: the oldest is only partly inside and counts whole.
  const size = WINDOW_SLICES + 1;
  const counts = new Float64Array(size);
  let current = snapshot?.slice ?? 0;
  let total = 0;
  snapshot?.counts.slice(0, size).forEach((count, index) => {
    const value = Number.isFinite(count) && count > 0 ? count : 0;
    counts[index] = value;
    total += value;
  });
  const advance = (now: number): void => {
    const slice = Math.floor(now / sliceMs);
    if (!(slice > current)) return;
    const steps = Math.min(slice - current, size);
    for (let step = 1; step <= steps; step += 1) {
      const index = (current + step) % size;
      total -= counts[index] ?? 0;
      counts[index] = 0;
    }
    if (slice - current >= size) {
      counts.fill(0);
      total = 0;
    }
    current = slice;
  };
  return {
    used(now) {
      advance(now);
      return total;
    },
    add(now, count = 1, at = now) {
      advance(now);
      const slice = at === now ? current : Math.min(current, Math.floor(at / sliceMs));
      if (current - slice >= size) return;
      const index = slice % size;
      counts[index] = (counts[index] ?? 0) + count;
      total += count;
    },
    isIdle(now) {
      advance(now);
      return total === 0;
    },
    toJSON: () => ({ slice: current, counts: Array.from(counts) }),
  };
}
