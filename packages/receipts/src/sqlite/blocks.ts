import { BLOCK_WIDTH, SPAN_WIDTH } from "../spans/spans.js";
import type { Span } from "../spans/spans.js";
import type { Database, Statement } from "../store/sqlite-engine.js";

/**
 * The earliest and latest receive time of each block of the log. Entries are nearly in order of
 * time, so a time range selects a range of the log: one row per 4,096 entries replaces an index
 * over all of them.
 */
export class Blocks {
  readonly #widen: Statement;
  readonly #first: Statement;
  readonly #last: Statement;

  constructor(database: Database) {
    this.#widen = database.prepare(
      "INSERT INTO blocks VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)",
    );
    this.#first = database.prepare("SELECT min(block) AS block FROM blocks WHERE latest >= ?");
    this.#last = database.prepare("SELECT max(block) AS block FROM blocks WHERE earliest < ?");
  }

  /** Records the receive times of spans. */
  add(spans: readonly Pick<Span, "first" | "last" | "earliest" | "latest">[]): void {
    const widened = new Map<number, { earliest: number; latest: number }>();
    for (const { first, last, earliest, latest } of spans) {
      const end = Math.floor(last / BLOCK_WIDTH);
      for (let block = Math.floor(first / BLOCK_WIDTH); block <= end; block += 1) {
        const known = widened.get(block);
        if (known === undefined) {
          widened.set(block, { earliest, latest });
          continue;
        }
        if (earliest < known.earliest) known.earliest = earliest;
        if (latest > known.latest) known.latest = latest;
      }
    }
    for (const [block, { earliest, latest }] of widened) this.#widen.run(block, earliest, latest);
  }

  /** Conditions for the spans that can contain entries of a time range. */
  between(since: number | undefined, until: number | undefined): string[] {
    const found: string[] = [];
    if (since !== undefined) {
      const block = this.#first.get(since)?.["block"];
      found.push(typeof block === "number" ? `last_seq >= ${block * BLOCK_WIDTH}` : "1 = 0");
    }
    if (until !== undefined) {
      const block = this.#last.get(until)?.["block"];
      found.push(
        typeof block === "number"
          ? `last_seq < ${(block + 1) * BLOCK_WIDTH + SPAN_WIDTH}`
          : "1 = 0",
      );
    }
    return found;
  }
}
