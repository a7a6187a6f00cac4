import type { Database, Statement } from "../store/sqlite-engine.js";

const COLUMNS = 6;
// A statement costs about as much as three rows; more rows than this save nothing.
const ROWS = 16;

// OR FAIL, since a failure rolls the whole transaction back anyway. To undo one statement of
// several rows, SQLite would first copy every page it touches to a file: ten times the bytes of the
// index itself.
function insertOf(rows: number): string {
  const row = `(?${", ?".repeat(COLUMNS - 1)})`;
  return `INSERT OR FAIL INTO entries VALUES ${Array.from({ length: rows }, () => row).join(", ")}`;
}

/** Inserts rows into `entries`, several per statement. */
export class EntryRows {
  readonly #many: Statement;
  readonly #one: Statement;
  #waiting: (string | number)[] = [];

  constructor(database: Database) {
    this.#many = database.prepare(insertOf(ROWS));
    this.#one = database.prepare(insertOf(1));
  }

  /** Adds a row; call `save` before the transaction ends. */
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
    // `get`, because `run` creates a result object that is not needed.
    this.#many.get(...this.#waiting);
    this.#waiting = [];
  }

  save(): void {
    for (let at = 0; at < this.#waiting.length; at += COLUMNS) {
      this.#one.get(...this.#waiting.slice(at, at + COLUMNS));
    }
    this.#waiting = [];
  }

  /** Discards unsaved rows. */
  forget(): void {
    this.#waiting = [];
  }
}
