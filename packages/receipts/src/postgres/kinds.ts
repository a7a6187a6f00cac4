import { randomInt } from "node:crypto";
import type { TimedDraft } from "../entry/draft.js";
import type { LogEntry } from "../entry/entry.js";
import { columnValues } from "../query/columns.js";
import { columnText } from "./column-text.js";

/** Enough for the active kinds of a few thousand streams. */
const CACHED = 16_384;
const NUMBERS = 2 ** 20;
const RANGES = 2 ** 32;

/** A kind that the database does not have yet: its number and its column values. */
export type NewKind = {
  readonly kind: number;
  readonly values: readonly (string | boolean | null)[];
};

/**
 * The kinds that one gateway has stored. Other gateways have their own numbers for the same values;
 * queries give the same results. The numbers of a gateway are a random range: they stay unique
 * when a database has lost its last transactions.
 */
export class Kinds {
  readonly #known = new Map<string, number>();
  #next = 0;
  #first: number | undefined;
  #added: NewKind[] = [];
  /** The entry before: most entries continue its run. */
  #last: { readonly values: NewKind["values"]; readonly kind: number } | undefined;
  /** The kind that was stored last. */
  newest: number | undefined;

  /**
   * Discards the known kinds unless the database still has all of them: `stored` is the newest one, so
   * no transaction was lost, and no entries were removed since.
   */
  check(stored: number | undefined, firstEntry: number): void {
    this.#added = [];
    const isComplete = stored !== undefined && stored === this.newest && firstEntry === this.#first;
    if (isComplete && this.#known.size < CACHED) return;
    this.#known.clear();
    this.#last = undefined;
    this.newest = undefined;
    this.#first = firstEntry;
    this.#next = randomInt(RANGES) * NUMBERS;
  }

  /** The number of the kind of an entry. */
  find(entry: TimedDraft | LogEntry): number {
    const values = columnValues(entry);
    const last = this.#last;
    if (last !== undefined && values.every((value, at) => value === last.values[at])) {
      return last.kind;
    }
    const name = JSON.stringify(values);
    const kind = this.#known.get(name) ?? this.#add(name, values);
    this.#last = { values, kind };
    return kind;
  }

  #add(name: string, values: NewKind["values"]): number {
    const kind = this.#next++;
    this.#known.set(name, kind);
    const stored = values.map((value) => (typeof value === "string" ? columnText(value) : value));
    this.#added.push({ kind, values: stored });
    this.newest = kind;
    return kind;
  }

  /** The kinds that were found since the check and are not stored yet. */
  get added(): readonly NewKind[] {
    return this.#added;
  }
}
