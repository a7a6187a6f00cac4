import type { Clock } from "../base/ports.js";
import type { LedgerName, LedgerRow, ThreadLedger } from "./ledger.js";

/** Maximum number of threads; the least recently used one is evicted first. */
const MAX_THREADS = 10_000;

type Kept = { readonly rows: Map<string, LedgerRow>; writtenAt: number };

/**
 * A ledger that ends with its process: for tests, and for gateways that keep no receipts either.
 */
export function createMemoryLedger(clock: Clock, maxThreads: number = MAX_THREADS): ThreadLedger {
  const threads = new Map<string, Kept>();
  const open = (thread: string): Kept => {
    const kept = threads.get(thread) ?? { rows: new Map<string, LedgerRow>(), writtenAt: 0 };
    kept.writtenAt = Math.max(kept.writtenAt, clock.now());
    // Deleting and inserting moves it to the end of the map.
    threads.delete(thread);
    threads.set(thread, kept);
    if (threads.size > maxThreads) threads.delete(threads.keys().next().value as string);
    return kept;
  };
  const read = (thread: string): LedgerRow[] =>
    [...(threads.get(thread)?.rows.values() ?? [])].filter(({ kind }) => kind !== "run");
  return {
    write: async (thread, rows, removed = []) => {
      const kept = open(thread);
      for (const name of removed) kept.rows.delete(nameOf(name));
      for (const row of rows) kept.rows.set(nameOf(row), row);
    },
    claim: async (claims, reading) => {
      const rows = reading === undefined ? [] : read(reading);
      const known = claims.map(({ thread, row, isLookup }) => {
        if (isLookup === true) return threads.get(thread)?.rows.get(nameOf(row))?.value;
        const kept = open(thread);
        const there = kept.rows.get(nameOf(row));
        if (there === undefined) kept.rows.set(nameOf(row), row);
        return there?.value;
      });
      return { known, rows };
    },
    forget: async (before) => {
      let count = 0;
      for (const [thread, { writtenAt }] of threads) {
        if (writtenAt >= before) continue;
        threads.delete(thread);
        count += 1;
      }
      return count;
    },
    close: async () => threads.clear(),
  };
}

function nameOf({ kind, id }: LedgerName): string {
  return `${kind}\n${id}`;
}
