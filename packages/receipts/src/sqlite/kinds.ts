import type { LogEntry } from "../entry/entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import type { Database, Statement } from "../store/sqlite-engine.js";

// Enough for the active kinds of a few thousand streams, at about 400 bytes each.
const CACHED = 16_384;
const INSERT = `INSERT INTO kinds VALUES (?${", ?".repeat(ENTRY_COLUMNS.length)})`;

/**
 * The combinations of column values of entries: hundreds of deltas of one message share one. A kind
 * that left the cache, or has another encoding, gets a second number; queries give the same
 * results.
 */
export class Kinds {
  readonly #known = new Map<string, number>();
  readonly #insert: Statement;
  readonly #last: Statement;
  #next: number | undefined;

  constructor(database: Database) {
    this.#insert = database.prepare(INSERT);
    this.#last = database.prepare("SELECT max(kind) AS kind FROM kinds");
  }

  /** The number of the kind with this encoding, if it is cached. */
  find(spelling: string): number | undefined {
    return this.#known.get(spelling);
  }

  /** The number of an entry's kind, whose encoding is new or unknown. */
  add(entry: LogEntry, spelling: string | undefined): number {
    const values = columnValues(entry).map((value) =>
      typeof value === "boolean" ? Number(value) : value,
    );
    const name = spelling ?? JSON.stringify(values);
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const kind = this.#next ?? Number(this.#last.get()?.["kind"] ?? 0) + 1;
    this.#insert.get(kind, ...values);
    this.#next = kind + 1;
    if (this.#known.size >= CACHED) this.#known.clear();
    this.#known.set(name, kind);
    return kind;
  }

  /** Clears the cache: the numbers of a rolled back transaction are invalid. */
  forget(): void {
    this.#known.clear();
    this.#next = undefined;
  }
}
