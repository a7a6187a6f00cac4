import { SmallMap } from "@countersign/core";
import type { RowName, StoredRow } from "../store/keyed-store.js";

/** Rows to put and names to remove, in one write. */
export type TraceWrite = { readonly rows: StoredRow[]; readonly removed: RowName[] };

/** The rows that a run writes to the ledger next; the last change of each row wins. */
export class PendingRows {
  readonly #rows = new SmallMap<string, StoredRow>();
  readonly #removed = new SmallMap<string, RowName>();

  put(row: StoredRow): void {
    const key = keyOf(row);
    // A removed row is put again before its removal was written.
    this.#removed.delete(key);
    this.#rows.set(key, row);
  }

  remove({ kind, id }: RowName): void {
    const key = keyOf({ kind, id });
    this.#rows.delete(key);
    this.#removed.set(key, { kind, id });
  }

  clear(): void {
    this.#rows.clear();
    this.#removed.clear();
  }

  /** Returns all changes since the last call; `undefined` when there are none. */
  take(): TraceWrite | undefined {
    if (this.#rows.size === 0 && this.#removed.size === 0) return undefined;
    const write = { rows: [...this.#rows.values()], removed: [...this.#removed.values()] };
    this.clear();
    return write;
  }
}

function keyOf({ kind, id }: RowName): string {
  return `${kind}\n${id}`;
}
