import { KeptRows } from "./kept-rows.js";
import type { LedgerName, LedgerRow, ThreadLedger } from "./ledger.js";

/** Approximate bytes of all cached rows: 20,000 ordinary rows. */
const MAX_SIZE = 10 * 1024 * 1024;
/** Below this number of rows, reading a thread again costs less than caching it. */
const MIN_ROWS = 64;

/**
 * Caches the rows of the most recently used threads, for a ledger that only this process writes to.
 * A person's messages are minutes apart, and reading 1,000 messages back took most of the time that
 * a request waited.
 *
 * A thread is dropped when its rows are uncertain: after a failed write, or when it was written
 * during the read.
 */
export function keepRecentThreads(
  ledger: ThreadLedger,
  bounds: { readonly minRows?: number; readonly maxSize?: number } = {},
): ThreadLedger {
  const { minRows = MIN_ROWS, maxSize = MAX_SIZE } = bounds;
  const kept = new Map<string, KeptRows>();
  const reading = new Map<string, object>();
  let total = 0;

  const drop = (thread: string): void => {
    total -= kept.get(thread)?.size ?? 0;
    kept.delete(thread);
    reading.delete(thread);
  };
  const keep = (thread: string, rows: KeptRows): void => {
    // Deleting it first moves it to the end of the map.
    drop(thread);
    // Small threads would never fill the bound of rows: there could be any number of them.
    if (rows.count < Math.max(1, minRows) || rows.size > maxSize) return;
    kept.set(thread, rows);
    total += rows.size;
    for (const oldest of kept.keys()) {
      if (total <= maxSize) return;
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
    for (const name of removed) known.delete(name);
    for (const row of rows) if (row.kind !== "run") known.set(row);
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
      // Copied now, because writes may change it while the claims are pending.
      const atHand = known === undefined ? undefined : known.all();
      const mark = {};
      if (thread !== undefined) {
        if (known === undefined) reading.set(thread, mark);
        else keep(thread, known);
      }
      const claimed = await ledger.claim(claims, atHand === undefined ? thread : undefined);
      if (thread !== undefined && reading.get(thread) === mark) {
        reading.delete(thread);
        if (claimed.rows.length >= minRows) keep(thread, new KeptRows(claimed.rows));
      }
      claims.forEach((claim, index) => {
        if (claimed.known[index] === undefined && claim.isLookup !== true)
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
