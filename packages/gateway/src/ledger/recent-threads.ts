import type { LedgerName, LedgerRow, ThreadLedger } from "./ledger.js";

/** Rows kept over all threads; a row takes about half a kilobyte. */
const MAX_ROWS = 20_000;
/** Rows below which reading a thread again costs less than keeping it. */
const MIN_ROWS = 64;

type Rows = Map<string, LedgerRow>;

/**
 * Keeps the rows of the threads used last at hand, for a ledger that only this process writes to: a person
 * says the next thing minutes after the last, and reading 1,000 messages back took most of the time that
 * their request waited.
 *
 * What cannot be known for certain is forgotten: a thread whose write failed, and one that was written to
 * while it was read.
 */
export function keepRecentThreads(
  ledger: ThreadLedger,
  bounds: { readonly minRows?: number; readonly maxRows?: number } = {},
): ThreadLedger {
  const { minRows = MIN_ROWS, maxRows = MAX_ROWS } = bounds;
  const kept = new Map<string, Rows>();
  const reading = new Map<string, object>();
  let total = 0;

  const drop = (thread: string): void => {
    total -= kept.get(thread)?.size ?? 0;
    kept.delete(thread);
    reading.delete(thread);
  };
  const keep = (thread: string, rows: Rows): void => {
    // Taking it out first moves it to the young end of the map's order.
    drop(thread);
    // Small ones are not counted out by their rows: there could be any number of them.
    if (rows.size < Math.max(1, minRows) || rows.size > maxRows) return;
    kept.set(thread, rows);
    total += rows.size;
    for (const oldest of kept.keys()) {
      if (total <= maxRows) return;
      drop(oldest);
    }
  };
  const change = (
    thread: string,
    rows: readonly LedgerRow[],
    removed: readonly LedgerName[],
  ): void => {
    reading.delete(thread);
    const known = kept.get(thread);
    if (known === undefined) return;
    total -= known.size;
    for (const name of removed) known.delete(nameOf(name));
    for (const row of rows) if (row.kind !== "run") known.set(nameOf(row), row);
    total += known.size;
    keep(thread, known);
  };

  return {
    ...ledger,
    write: async (thread, rows, removed = []) => {
      reading.delete(thread);
      try {
        await ledger.write(thread, rows, removed);
      } catch (error) {
        drop(thread);
        throw error;
      }
      change(thread, rows, removed);
    },
    claim: async (claims, thread) => {
      for (const claim of claims) reading.delete(claim.thread);
      const known = thread === undefined ? undefined : kept.get(thread);
      // Now, since others may change it while the claims are under way.
      const atHand = known === undefined ? undefined : [...known.values()];
      const mark = {};
      if (thread !== undefined) {
        if (known === undefined) reading.set(thread, mark);
        else keep(thread, known);
      }
      const claimed = await ledger.claim(claims, atHand === undefined ? thread : undefined);
      if (thread !== undefined && reading.get(thread) === mark) {
        keep(thread, new Map(claimed.rows.map((row) => [nameOf(row), row])));
      }
      claims.forEach((claim, index) => {
        if (claimed.known[index] === undefined && claim.isQuestion !== true)
          change(claim.thread, [claim.row], []);
      });
      return { known: claimed.known, rows: atHand ?? claimed.rows };
    },
    forget: async (before) => {
      for (const thread of kept.keys()) drop(thread);
      reading.clear();
      const count = await ledger.forget(before);
      for (const thread of kept.keys()) drop(thread);
      return count;
    },
  };
}

function nameOf({ kind, id }: LedgerName): string {
  return `${kind}\n${id}`;
}
