import { MARK_WORDS } from "./receipt-mark.js";
import type { Check } from "./result.js";
import { failed, held } from "./result.js";

/** A receipt that is in the log a second time. */
export type Repeat = { readonly index: number; readonly earlier: number };

/** Repeated receipts. */
export type FoundRepeats = {
  readonly count: number;
  /** The one with the lowest index, if there is one. */
  readonly first: Repeat | undefined;
};

/** Finds receipts that are in a log twice. */
export type Repeats = {
  /**
   * Adds the fingerprints of entries from number `first` on, after all earlier ones. The
   * fingerprint of an unreadable entry or signature starts with zeros.
   */
  add(first: number, marks: Uint32Array): void | Promise<void>;
  /** The repeats so far; with `from` only those whose second number is at least `from`. */
  find(from?: number): FoundRepeats | Promise<FoundRepeats>;
  close(): void | Promise<void>;
};

/** Finds them in memory, with about 100 bytes per entry: small code, for browsers. */
export function createRepeats(): Repeats {
  const places = new Map<string, number>();
  const repeats: Repeat[] = [];
  return {
    add(first, marks) {
      for (let at = 0; at < marks.length; at += MARK_WORDS) {
        const mark = marks.subarray(at, at + MARK_WORDS);
        const index = first + at / MARK_WORDS;
        const earlier = places.get(mark.join());
        if (earlier !== undefined) repeats.push({ index, earlier });
        else if (mark.subarray(0, 3).some(Boolean)) places.set(mark.join(), index);
      }
    },
    find(from = 0) {
      const found = repeats.filter(({ index }) => index >= from);
      return { count: found.length, first: found[0] };
    },
    close: () => {},
  };
}

/** The repeats as one check of a verification. */
export function repeatCheck({ count, first }: FoundRepeats, total: string): Check {
  if (first === undefined) return held("receipt-once", total);
  const detail = `${count} of ${total}; first at ${first.index}: the receipt of entry ${first.earlier}`;
  return failed("receipt-once", detail, first.index);
}
