import type { Clock } from "../base/ports.js";
import { areAllNew } from "./keyed-store.js";
import type { RowName, StoredRow, KeyedStore } from "./keyed-store.js";

/** Maximum number of partitions; the least recently used one is evicted first. */
const MAX_PARTITIONS = 10_000;

type Kept = { readonly rows: Map<string, StoredRow>; writtenAt: number };

/** A keyed store that ends with its process: for tests, and for gateways that keep no receipts either. */
export function createMemoryStore(
  clock: Clock,
  maxPartitions: number = MAX_PARTITIONS,
): KeyedStore {
  const partitions = new Map<string, Kept>();
  const open = (partition: string): Kept => {
    const kept = partitions.get(partition) ?? { rows: new Map<string, StoredRow>(), writtenAt: 0 };
    kept.writtenAt = Math.max(kept.writtenAt, clock.now());
    // Deleting and inserting moves it to the end of the map.
    partitions.delete(partition);
    partitions.set(partition, kept);
    if (partitions.size > maxPartitions)
      partitions.delete(partitions.keys().next().value as string);
    return kept;
  };
  const read = (partition: string): StoredRow[] =>
    [...(partitions.get(partition)?.rows.values() ?? [])].filter(({ kind }) => kind !== "run");
  const write: KeyedStore["write"] = async (partition, rows, removed = []) => {
    const kept = open(partition);
    for (const name of removed) kept.rows.delete(nameOf(name));
    for (const row of rows) kept.rows.set(nameOf(row), row);
  };
  return {
    write,
    claim: async (claims, reading, then) => {
      const rows = reading === undefined ? [] : read(reading);
      const known = claims.map(({ partition, row, isLookup }) => {
        if (isLookup === true) return partitions.get(partition)?.rows.get(nameOf(row))?.value;
        const kept = open(partition);
        const there = kept.rows.get(nameOf(row));
        if (there === undefined) kept.rows.set(nameOf(row), row);
        return there?.value;
      });
      if (then !== undefined && areAllNew(known)) await write(then.partition, then.rows);
      return { known, rows };
    },
    forget: async (before) => {
      let count = 0;
      for (const [partition, { writtenAt }] of partitions) {
        if (writtenAt >= before) continue;
        partitions.delete(partition);
        count += 1;
      }
      return count;
    },
    close: async () => partitions.clear(),
  };
}

function nameOf({ kind, id }: RowName): string {
  return `${kind}\n${id}`;
}
