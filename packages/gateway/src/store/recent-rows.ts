import { areAllNew } from "./keyed-store.js";
import type { RowName, StoredRow, KeyedStore } from "./keyed-store.js";
import { measureJson } from "@countersign/wire/reduce";

/** Approximate bytes of all cached rows: 20,000 ordinary rows. */
const MAX_SIZE = 10 * 1024 * 1024;
/** Below this number of rows, reading a partition again costs less than caching it. */
const MIN_ROWS = 64;

/**
 * Caches the rows of the most recently used partitions, for a store that only this process
 * writes to.
 * A person's messages are minutes apart, and reading 1,000 messages back took most of the time that
 * a request waited.
 *
 * A partition is dropped when its rows are uncertain: after a failed write, or when it was written
 * during the read.
 */
export function keepRecentRows(
  store: KeyedStore,
  bounds: { readonly minRows?: number; readonly maxSize?: number } = {},
): KeyedStore {
  const { minRows = MIN_ROWS, maxSize = MAX_SIZE } = bounds;
  const kept = new Map<string, KeptRows>();
  const reading = new Map<string, object>();
  let total = 0;

  const drop = (partition: string): void => {
    total -= kept.get(partition)?.size ?? 0;
    kept.delete(partition);
    reading.delete(partition);
  };
  const keep = (partition: string, rows: KeptRows): void => {
    // Deleting it first moves it to the end of the map.
    drop(partition);
    // Small partitions would never fill the bound of rows: there could be any number of them.
    if (rows.count < Math.max(1, minRows) || rows.size > maxSize) return;
    kept.set(partition, rows);
    total += rows.size;
    for (const oldest of kept.keys()) {
      if (total <= maxSize) return;
      drop(oldest);
    }
  };
  const change = (
    partition: string,
    rows: readonly StoredRow[],
    removed: readonly RowName[],
  ): void => {
    reading.delete(partition);
    const known = kept.get(partition);
    if (known === undefined) return;
    total -= known.size;
    for (const name of removed) known.delete(name);
    for (const row of rows) if (row.kind !== "run") known.set(row);
    total += known.size;
    keep(partition, known);
  };

  return {
    ...store,
    write: async (partition, rows, removed = []) => {
      reading.delete(partition);
      try {
        await store.write(partition, rows, removed);
      } catch (error) {
        drop(partition);
        throw error;
      }
      change(partition, rows, removed);
    },
    claim: async (claims, partition, then) => {
      for (const claim of claims) reading.delete(claim.partition);
      if (then !== undefined) reading.delete(then.partition);
      const known = partition === undefined ? undefined : kept.get(partition);
      // Copied now, because writes may change it while the claims are pending.
      const atHand = known === undefined ? undefined : known.all();
      const mark = {};
      if (partition !== undefined) {
        if (known === undefined) reading.set(partition, mark);
        else keep(partition, known);
      }
      const read = atHand === undefined ? partition : undefined;
      const claimed = await store.claim(claims, read, then).catch((error: unknown) => {
        if (then !== undefined) drop(then.partition);
        throw error;
      });
      if (partition !== undefined && reading.get(partition) === mark) {
        reading.delete(partition);
        if (claimed.rows.length >= minRows) keep(partition, new KeptRows(claimed.rows));
      }
      claims.forEach((claim, index) => {
        if (claimed.known[index] === undefined && claim.isLookup !== true)
          change(claim.partition, [claim.row], []);
      });
      if (then !== undefined && areAllNew(claimed.known)) change(then.partition, then.rows, []);
      return { known: claimed.known, rows: atHand ?? claimed.rows };
    },
    forget: async (before) => {
      for (const partition of kept.keys()) drop(partition);
      reading.clear();
      const count = await store.forget(before);
      for (const partition of kept.keys()) drop(partition);
      return count;
    },
  };
}

/** The memory of a row in addition to its value. */
const ROW_SIZE = 256;
/** Deeper than any value that the gateway accepts. */
const MAX_DEPTH = 256;

/** The cached rows of one partition, and their approximate size in bytes: rows of a cut run are long. */
export class KeptRows {
  readonly #rows = new Map<string, { readonly row: StoredRow; readonly size: number }>();
  size = 0;

  constructor(rows: readonly StoredRow[]) {
    for (const row of rows) this.set(row);
  }

  get count(): number {
    return this.#rows.size;
  }

  set(row: StoredRow): void {
    const name = nameOf(row);
    const size = sizeOf(row);
    this.size += size - (this.#rows.get(name)?.size ?? 0);
    this.#rows.set(name, { row, size });
  }

  delete(name: RowName): void {
    const key = nameOf(name);
    this.size -= this.#rows.get(key)?.size ?? 0;
    this.#rows.delete(key);
  }

  all(): StoredRow[] {
    return Array.from(this.#rows.values(), ({ row }) => row);
  }
}

function nameOf({ kind, id }: RowName): string {
  return `${kind}\n${id}`;
}

function sizeOf({ id, value }: StoredRow): number {
  const size = measureJson(value, MAX_DEPTH);
  return typeof size === "number" ? ROW_SIZE + id.length + size : Number.MAX_SAFE_INTEGER;
}
