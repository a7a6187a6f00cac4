import type { Database, Statement } from "../store/sqlite-engine.js";

/** Entries of one block. */
export const BLOCK_WIDTH = 4_096;

/**
 * The earliest and latest receive time of each block of the log. Entries are nearly in order of
 * time, so a time range selects a range of the log: one row per 4,096 entries replaces an index
 * over all of them.
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

  /** Records the receive time of an entry; call `save` before the transaction ends. */
  add(seq: number, receivedAt: number): void {
    const block = Math.floor(seq / BLOCK_WIDTH);
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

  /** Discards unsaved times. */
  forget(): void {
    this.#earliest = Number.POSITIVE_INFINITY;
    this.#latest = Number.NEGATIVE_INFINITY;
  }

  /** Conditions for the part of the log that can contain entries of a time range. */
  between(since: number | undefined, until: number | undefined): string[] {
    const found: string[] = [];
    if (since !== undefined) {
      const block = this.#first.get(since)?.["block"];
      found.push(typeof block === "number" ? `seq >= ${block * BLOCK_WIDTH}` : "1 = 0");
    }
    if (until !== undefined) {
      const block = this.#last.get(until)?.["block"];
      found.push(typeof block === "number" ? `seq < ${(block + 1) * BLOCK_WIDTH}` : "1 = 0");
    }
    return found;
  }
}
