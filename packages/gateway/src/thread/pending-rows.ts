import { SmallMap } from "@countersign/core";
import type { RowName, StoredRow } from "../store/keyed-store.js";

/** Rows to put and names to remove, in one write. */
export type TraceWrite = { readonly rows: StoredRow[]; readonly removed: RowName[] };

/** The rows that a run writes to the ledger next; the last change of each row wins. */
export class PendingRows {
  readonly #rows = new SmallMap<string, StoredRow>();
  #removed: RowName[] = [];

  put(row: StoredRow): void {
    // A removed row is put again before its removal was written.
    if (this.#removed.length > 0) {
      this.#removed = this.#removed.filter(({ kind, id }) => kind !== row.kind || id !== row.id);
    }
    this.#rows.set(keyOf(row), row);
  }

  remove(name: RowName): void {
    this.#rows.delete(keyOf(name));
    this.#removed.push(name);
  }

  clear(): void {
    this.#rows.clear();
    this.#removed = [];
  }

  /** Returns all changes since the last call; `undefined` when there are none. */
  take(): TraceWrite | undefined {
    if (this.#rows.size === 0 && this.#removed.length === 0) return undefined;
    const write = { rows: [...this.#rows.values()], removed: this.#removed };
    this.clear();
    return write;
  }
}

function keyOf({ kind, id }: RowName): string {
  return `${kind}\n${id}`;
}
