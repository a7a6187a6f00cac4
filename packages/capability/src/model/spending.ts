/**
 * The name under which the events of a token are counted: ids are unique only for their issuer, and one issuer must
 * not use up what another gave out.
 */
export function allowanceId(issuer: string, id: string): string {
  return JSON.stringify([issuer, id]);
}

/** Counts the events tokens have opened. Shared by several verifiers where they guard the same agents. */
export type SpendingBook = {
  /** Events counted so far. */
  spent(id: string): number;
  /** Counts one; the count may be forgotten after the token's expiry (seconds). */
  count(id: string, expiresAt: number): void;
  /** Whether there is no room for the count of one more token. */
  isFull(now: number): boolean;
};

/** Counts in memory, at most `most` tokens at once. */
export function createSpendingBook(most = 100_000): SpendingBook {
  const counts = new Map<string, { events: number; expiresAt: number }>();
  return {
    spent: (id) => counts.get(id)?.events ?? 0,
    count(id, expiresAt) {
      const entry = counts.get(id);
      if (entry === undefined) counts.set(id, { events: 1, expiresAt });
      else {
        entry.events += 1;
        // The same id under a later expiry must not forget what was spent under the earlier one.
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
