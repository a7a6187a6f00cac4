import { MARK_WORDS } from "./receipt-mark.js";
import type { Check } from "./result.js";
import { failed, held } from "./result.js";

/** A receipt that stands in the log a second time. */
export type Repeat = { readonly index: number; readonly earlier: number };

/** Receipts that came twice. */
export type FoundRepeats = {
  readonly count: number;
  /** The one with the lowest index, if there is one. */
  readonly first: Repeat | undefined;
};

/** Looks for receipts that stand in a log twice. */
export type Repeats = {
  /**
   * The marks of entries from a number on, behind all that were added before. What could not be read, entry or signature,
   * has a mark that begins with zeros.
   */
  add(first: number, marks: Uint32Array): void | Promise<void>;
  /** What came twice so far; where other entries were looked at before, the second time at a number from `from` on. */
  find(from?: number): FoundRepeats | Promise<FoundRepeats>;
  close(): void | Promise<void>;
};

/** Looks for them in memory, which takes about 100 bytes an entry: small, for browsers. */
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

/** What was found as one line of a verification. */
export function repeatCheck({ count, first }: FoundRepeats, total: string): Check {
  if (first === undefined) return held("receipt-once", total);
  const detail = `${count} of ${total}; first at ${first.index}: the receipt of entry ${first.earlier}`;
  return failed("receipt-once", detail, first.index);
}
