/** A token bucket: `max` events per window on average, `capacity` at once. */
export type BucketCounter = {
  /** The debt of the bucket, from 0 (all tokens left) to `capacity` (none). */
  used(now: number): number;
  /**
   * Counts this many events, default one; their time makes no difference: a debt is paid from now
   * on.
   */
  add(now: number, count?: number, at?: number): void;
  isIdle(now: number): boolean;
  toJSON(): BucketSnapshot;
};

/** The state of a bucket. */
export type BucketSnapshot = { readonly debt: number; readonly at: number };

/** Starts full of tokens, or from a snapshot. */
export function createBucketCounter(
  max: number,
  windowMs: number,
  snapshot?: BucketSnapshot,
): BucketCounter {
  const perMs = max / windowMs;
  let debt = snapshot?.debt ?? 0;
  let at = snapshot?.at ?? 0;
  const refill = (now: number): void => {
    if (!(now > at)) return;
    debt = Math.max(0, debt - (now - at) * perMs);
    at = now;
  };
  return {
    used(now) {
      refill(now);
      return debt;
    },
    add(now, count = 1) {
      refill(now);
      debt += count;
    },
    isIdle(now) {
      refill(now);
      return debt === 0;
    },
    toJSON: () => ({ debt, at }),
  };
}
