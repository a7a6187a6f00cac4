import { SPAN_WIDTH, trimSpan } from "../query/spans.js";
import type { Span } from "../query/spans.js";
import type { Database, Statement } from "../store/sqlite-engine.js";

/** The rows of `spans`. */
export class SpanRows {
  readonly #insert: Statement;
  readonly #remove: Statement;
  readonly #straddling: Statement;
  readonly #replace: Statement;

  constructor(database: Database) {
    // OR FAIL, since a failure rolls the whole transaction back anyway.
    const values = "INTO spans VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
    this.#insert = database.prepare(`INSERT OR FAIL ${values}`);
    this.#replace = database.prepare(`REPLACE ${values}`);
    this.#remove = database.prepare(
      "DELETE FROM spans WHERE last_seq IN (SELECT last_seq FROM spans WHERE last_seq < ? LIMIT ?)",
    );
    this.#straddling = database.prepare(
      "SELECT * FROM spans WHERE first_seq < ?1 AND last_seq >= ?1 AND last_seq < ?1 + ?2",
    );
  }

  add(spans: readonly Span[]): void {
    // `get`, because `run` creates a result object that is not needed.
    for (const span of spans) this.#insert.get(...valuesOf(span));
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
  }
}

function valuesOf(span: Span): (string | number)[] {
  const { last, first, kind, entries, earliest, latest, idPrefix, detail } = span;
  return [last, first, kind, entries, earliest, latest, idPrefix, detail];
}
