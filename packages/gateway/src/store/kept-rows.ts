import { measureJson } from "@countersign/wire/reduce";
import type { RowName, StoredRow } from "./keyed-store.js";

/** The memory of a row in addition to its value. */
const ROW_SIZE = 256;
/** Deeper than any value that the gateway accepts. */
const MAX_DEPTH = 256;

/**
 * The cached rows of one partition, and their approximate size in bytes: rows of a cut run are long.
 */
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
