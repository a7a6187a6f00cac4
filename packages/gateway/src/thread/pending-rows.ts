import { SmallMap } from "@countersign/core";
import type { LedgerName, LedgerRow } from "./ledger.js";

/** Rows to put and names to remove, together. */
export type TraceWrite = { readonly rows: LedgerRow[]; readonly removed: LedgerName[] };

/** What a run has to tell the ledger next; of each name the last word counts. */
export class PendingRows {
  readonly #rows = new SmallMap<string, LedgerRow>();
  #removed: LedgerName[] = [];

  put(row: LedgerRow): void {
    // What was taken back comes again, before anybody wrote that it was.
    if (this.#removed.length > 0) {
      this.#removed = this.#removed.filter(({ kind, id }) => kind !== row.kind || id !== row.id);
    }
    this.#rows.set(keyOf(row), row);
  }

  remove(name: LedgerName): void {
    this.#rows.delete(keyOf(name));
    this.#removed.push(name);
  }

  clear(): void {
    this.#rows.clear();
    this.#removed = [];
  }

  /** Everything so far, once; nothing when there is nothing to write. */
  take(): TraceWrite | undefined {
    if (this.#rows.size === 0 && this.#removed.length === 0) return undefined;
    const write = { rows: [...this.#rows.values()], removed: this.#removed };
    this.clear();
    return write;
  }
}

function keyOf({ kind, id }: LedgerName): string {
  return `${kind}\n${id}`;
}
