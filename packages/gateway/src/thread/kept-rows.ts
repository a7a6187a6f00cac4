import { measureJson } from "@countersign/wire/reduce";
import type { LedgerName, LedgerRow } from "./ledger.js";

/** The memory of a row in addition to its value. */
const ROW_SIZE = 256;
/** Deeper than any value that the gateway accepts. */
const MAX_DEPTH = 256;

/**
 * The cached rows of one thread, and their approximate size in bytes: rows of a cut run are long.
 */
export class KeptRows {
  readonly #rows = new Map<string, { readonly row: LedgerRow; readonly size: number }>();
  size = 0;

  constructor(rows: readonly LedgerRow[]) {
    for (const row of rows) this.set(row);
  }

  get count(): number {
    return this.#rows.size;
  }

  set(row: LedgerRow): void {
    const name = nameOf(row);
    const size = sizeOf(row);
    this.size += size - (this.#rows.get(name)?.size ?? 0);
    this.#rows.set(name, { row, size });
  }

  delete(name: LedgerName): void {
    const key = nameOf(name);
    this.size -= this.#rows.get(key)?.size ?? 0;
    this.#rows.delete(key);
  }

  all(): LedgerRow[] {
    return Array.from(this.#rows.values(), ({ row }) => row);
  }
}

function nameOf({ kind, id }: LedgerName): string {
  return `${kind}\n${id}`;
}

function sizeOf({ id, value }: LedgerRow): number {
  const size = measureJson(value, MAX_DEPTH);
  return typeof size === "number" ? ROW_SIZE + id.length + size : Number.MAX_SAFE_INTEGER;
}
