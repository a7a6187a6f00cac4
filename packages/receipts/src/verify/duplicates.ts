import { FINGERPRINT_WORDS } from "./receipt-fingerprint.js";
import type { Check } from "./result.js";
import { failed, held } from "./result.js";

/** A receipt that is in the log a second time. */
export type Duplicate = { readonly index: number; readonly earlier: number };

/** Repeated receipts. */
export type FoundDuplicates = {
  readonly count: number;
  /** The one with the lowest index, if there is one. */
  readonly first: Duplicate | undefined;
};

/** Finds receipts that are in a log twice. */
export type DuplicateFinder = {
  /**
   * Adds the fingerprints of entries from number `first` on, after all earlier ones. The
   * fingerprint of an unreadable entry or signature starts with zeros.
   */
  add(first: number, fingerprints: Uint32Array): void | Promise<void>;
  /** The duplicates so far; with `from` only those whose second number is at least `from`. */
  find(from?: number): FoundDuplicates | Promise<FoundDuplicates>;
  close(): void | Promise<void>;
};

/** Finds them in memory, with about 100 bytes per entry: small code, for browsers. */
export function createDuplicateFinder(): DuplicateFinder {
  const places = new Map<string, number>();
  const duplicates: Duplicate[] = [];
  return {
    add(first, fingerprints) {
      for (let at = 0; at < fingerprints.length; at += FINGERPRINT_WORDS) {
        const fingerprint = fingerprints.subarray(at, at + FINGERPRINT_WORDS);
        const index = first + at / FINGERPRINT_WORDS;
        const earlier = places.get(fingerprint.join());
        if (earlier !== undefined) duplicates.push({ index, earlier });
        else if (fingerprint.subarray(0, 3).some(Boolean)) places.set(fingerprint.join(), index);
      }
    },
    find(from = 0) {
      const found = duplicates.filter(({ index }) => index >= from);
      return { count: found.length, first: found[0] };
    },
    close: () => {},
  };
}

/** The duplicates as one check of a verification. */
export function duplicateCheck({ count, first }: FoundDuplicates, total: string): Check {
  if (first === undefined) return held("receipt-once", total);
  const detail = `${count} of ${total}; first at ${first.index}: the receipt of entry ${first.earlier}`;
  return failed("receipt-once", detail, first.index);
}
