import { BLOCK_WIDTH, SPAN_WIDTH, trimSpan } from "../spans/spans.js";
import type { Span, SpanBatch } from "../spans/spans.js";
import type { Database, Statement } from "../store/sqlite-engine.js";

const COLUMNS = 7;
// A statement costs about as much as three rows; more rows than this save nothing.
const ROWS = 16;

// OR FAIL, since a failure rolls the whole transaction back anyway. To undo one statement of
// several rows, SQLite would first copy every page it touches to a file: ten times the bytes of the
// index itself.
function insertOf(rows: number): string {
  const row = `(?${", ?".repeat(COLUMNS - 1)})`;
  return `INSERT OR FAIL INTO spans VALUES ${Array.from({ length: rows }, () => row).join(", ")}`;
}

/** The rows of `spans` and `prefixes`. */
export class SpanRows {
  readonly #many: Statement;
  readonly #one: Statement;
  readonly #prefix: Statement;
  readonly #remove: Statement;
  readonly #removePrefixes: Statement;
  readonly #straddling: Statement;
  readonly #replace: Statement;

  constructor(database: Database) {
    this.#many = database.prepare(insertOf(ROWS));
    this.#one = database.prepare(insertOf(1));
    this.#prefix = database.prepare("INSERT OR IGNORE INTO prefixes VALUES (?, ?)");
    this.#replace = database.prepare("REPLACE INTO spans VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#remove = database.prepare(
      "DELETE FROM spans WHERE last_seq IN (SELECT last_seq FROM spans WHERE last_seq < ? LIMIT ?)",
    );
    this.#removePrefixes = database.prepare("DELETE FROM prefixes WHERE block < ?");
    this.#straddling = database.prepare(
      "SELECT * FROM spans WHERE first_seq < ?1 AND last_seq >= ?1 AND last_seq < ?1 + ?2",
    );
  }

  add({ spans, prefixes }: SpanBatch): void {
    let at = 0;
    // `get`, because `run` creates a result object that is not needed.
    for (; at + ROWS <= spans.length; at += ROWS) {
      this.#many.get(...spans.slice(at, at + ROWS).flatMap(valuesOf));
    }
    for (const span of spans.slice(at)) this.#one.get(...valuesOf(span));
    for (const { prefix, block } of prefixes) this.#prefix.get(prefix, block);
  }

  /** Removes up to `limit` spans that end before an entry; returns their number. */
  remove(first: number, limit: number): number {
    return Number(this.#remove.run(first, limit).changes);
  }

  /** Removes the entries before `first` from the spans that also have later ones. */
  trim(first: number): void {
    for (const row of this.#straddling.all(first, SPAN_WIDTH)) {
      this.#replace.get(...valuesOf(trimSpan(row, first)));
    }
    this.#removePrefixes.run(Math.floor(first / BLOCK_WIDTH));
  }
}

function valuesOf(span: Span): (string | number)[] {
  const { last, first, kind, entries, earliest, latest, detail } = span;
  return [last, first, kind, entries, earliest, latest, detail];
}
