import type { Database, Statement } from "../store/sqlite-engine.js";

/** Entries of one block. */
const WIDTH = 4_096;

/**
 * When the entries of each block of the log were received, at the earliest and the latest. Entries are
 * nearly in the order of time, so that a question about a time is one about a part of the log: a row
 * for 4,096 entries does the work of an index over all of them.
 */
export class Blocks {
  readonly #widen: Statement;
  readonly #first: Statement;
  readonly #last: Statement;
  #block = 0;
  #earliest = Number.POSITIVE_INFINITY;
  #latest = Number.NEGATIVE_INFINITY;

  constructor(database: Database) {
    this.#widen = database.prepare(
      "INSERT INTO blocks VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET earliest = min(earliest, excluded.earliest), latest = max(latest, excluded.latest)",
    );
    this.#first = database.prepare("SELECT min(block) AS block FROM blocks WHERE latest >= ?");
    this.#last = database.prepare("SELECT max(block) AS block FROM blocks WHERE earliest < ?");
  }

  /** Notes when an entry was received; `save` follows before the transaction ends. */
  add(seq: number, receivedAt: number): void {
    const block = Math.floor(seq / WIDTH);
    if (block !== this.#block) {
      this.save();
      this.#block = block;
    }
    if (receivedAt < this.#earliest) this.#earliest = receivedAt;
    if (receivedAt > this.#latest) this.#latest = receivedAt;
  }

  save(): void {
    if (this.#earliest <= this.#latest) this.#widen.run(this.#block, this.#earliest, this.#latest);
    this.forget();
  }

  /** Drops what was noted and not saved. */
  forget(): void {
    this.#earliest = Number.POSITIVE_INFINITY;
    this.#latest = Number.NEGATIVE_INFINITY;
  }

  /** The part of the log outside which nothing was received between two times, as conditions. */
  between(since: number | undefined, until: number | undefined): string[] {
    const found: string[] = [];
    if (since !== undefined) {
      const block = this.#first.get(since)?.["block"];
      found.push(typeof block === "number" ? `seq >= ${block * WIDTH}` : "1 = 0");
    }
    if (until !== undefined) {
      const block = this.#last.get(until)?.["block"];
      found.push(typeof block === "number" ? `seq < ${(block + 1) * WIDTH}` : "1 = 0");
    }
    return found;
  }
}
