import type { Database, Statement } from "../store/sqlite-engine.js";

const COLUMNS = 6;
// A statement costs about as much as three rows; beyond this many nothing more is saved.
const ROWS = 16;

// OR FAIL, since a failure takes the whole transaction back anyway: to take back one statement of several rows
// SQLite would copy every page it touches to a file first, ten times as many bytes as the index itself has.
function insertOf(rows: number): string {
  const row = `(?${", ?".repeat(COLUMNS - 1)})`;
  return `INSERT OR FAIL INTO entries VALUES ${Array.from({ length: rows }, () => row).join(", ")}`;
}

/** Puts rows into `entries`, several by one statement. */
export class EntryRows {
  readonly #many: Statement;
  readonly #one: Statement;
  #waiting: (string | number)[] = [];

  constructor(database: Database) {
    this.#many = database.prepare(insertOf(ROWS));
    this.#one = database.prepare(insertOf(1));
  }

  /** Adds a row; `save` follows before the transaction ends. */
  add(
    seq: number,
    position: number,
    length: number,
    receivedAt: number,
    id: string,
    kind: number,
  ): void {
    this.#waiting.push(seq, position, length, receivedAt, id, kind);
    if (this.#waiting.length < ROWS * COLUMNS) return;
    // `get`, because `run` makes an object of what nobody asks for.
    this.#many.get(...this.#waiting);
    this.#waiting = [];
  }

  save(): void {
    for (let at = 0; at < this.#waiting.length; at += COLUMNS) {
      this.#one.get(...this.#waiting.slice(at, at + COLUMNS));
    }
    this.#waiting = [];
  }

  /** Drops what was added and not saved. */
  forget(): void {
    this.#waiting = [];
  }
}
