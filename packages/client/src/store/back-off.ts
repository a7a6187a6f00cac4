/** How the store comes back after a failure. */
export type BackOff = {
  /** Attempts after the first before the run counts as failed; 0 never comes back. */
  readonly attempts: number;
  /** Milliseconds before the first new attempt; doubles each time. */
  readonly baseMs: number;
  /** Milliseconds that no wait exceeds. */
  readonly maxMs: number;
};

/** Five attempts within about fifteen seconds. */
export const DEFAULT_BACK_OFF: BackOff = { attempts: 5, baseMs: 500, maxMs: 8000 };

/**
 * Milliseconds to wait before an attempt, counted from 1: half of it fixed and half random, so that the
 * clients of a server that fell over do not come back all at once.
 */
export function backOffDelay(
  backOff: BackOff,
  attempt: number,
  random: () => number,
  asked?: number,
): number {
  const ceiling = Math.min(backOff.maxMs, backOff.baseMs * 2 ** (attempt - 1));
  const delay = ceiling / 2 + (random() * ceiling) / 2;
  return Math.min(Math.max(delay, asked ?? 0), Math.max(backOff.maxMs, 60_000));
}
