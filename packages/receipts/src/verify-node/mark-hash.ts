import { MARK_WORDS } from "../verify/receipt-mark.js";

const MARK_BYTES = MARK_WORDS * Uint32Array.BYTES_PER_ELEMENT;
const BYTE_VALUES = 256;
const TWO_32 = 2 ** 32;

/** The hash of the mark that begins at a place, of 32 bits that are all equally good. */
export type MarkHash = (marks: Uint32Array, at: number) => number;

/**
 * A hash that nobody can know beforehand: a random number for each value of each byte of a mark, joined by XOR (simple
 * tabulation, which linear probing takes constant time with: Pătraşcu and Thorup 2012). Marks are chosen by whoever wrote
 * the log, and sums of products do not do: words that end in zeros make hashes that do, whatever the factors are.
 */
export function createMarkHash(): MarkHash {
  const table = crypto.getRandomValues(new Uint32Array(MARK_BYTES * BYTE_VALUES));
  return (marks, at) => {
    let hash = 0;
    let row = 0;
    for (let word = 0; word < MARK_WORDS; word += 1) {
      let rest = marks[at + word] as number;
      for (let byte = 0; byte < Uint32Array.BYTES_PER_ELEMENT; byte += 1) {
        hash ^= table[row + (rest & 0xff)] as number;
        rest >>>= 8;
        row += BYTE_VALUES;
      }
    }
    return hash >>> 0;
  };
}

/** The part that a mark belongs to, of 256: by the first 8 bits of its hash. */
export function partOf(hash: number): number {
  return hash >>> 24;
}

/** Where a mark is looked for first within its part, by the other bits: those of the part all its marks share. */
export function slotOf(hash: number, slots: number): number {
  return Math.floor((((hash << 8) >>> 0) / TWO_32) * slots);
}
