/**
 * The key under which the events of a token are counted: ids are unique per issuer only, and one
 * issuer must not use up another's allowance.
 */
export function allowanceId(issuer: string, id: string): string {
  return JSON.stringify([issuer, id]);
}

/**
 * Counts the events that tokens have authorized. Verifiers that guard the same agents share one.
 */
export type SpendingBook = {
  /** Events counted so far. */
  spent(id: string): number;
  /** Counts one event; the count may be dropped after the token's expiry (seconds). */
  count(id: string, expiresAt: number): void;
  /** Whether no further token can be counted. */
  isFull(now: number): boolean;
};

/** Counts in memory, for at most `most` tokens at once. */
export function createSpendingBook(most = 100_000): SpendingBook {
  const counts = new Map<string, { events: number; expiresAt: number }>();
  return {
    spent: (id) => counts.get(id)?.events ?? 0,
    count(id, expiresAt) {
      const entry = counts.get(id);
      if (entry === undefined) counts.set(id, { events: 1, expiresAt });
      else {
        entry.events += 1;
        // The same id with a later expiry must not drop the earlier count.
        entry.expiresAt = Math.max(entry.expiresAt, expiresAt);
      }
    },
    isFull(now) {
      if (counts.size < most) return false;
      for (const [id, entry] of counts) if (entry.expiresAt <= now) counts.delete(id);
      return counts.size >= most;
    },
  };
}
