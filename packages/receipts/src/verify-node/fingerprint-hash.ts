import { FINGERPRINT_WORDS } from "../verify/receipt-fingerprint.js";

const FINGERPRINT_BYTES = FINGERPRINT_WORDS * Uint32Array.BYTES_PER_ELEMENT;
const BYTE_VALUES = 256;
const TWO_32 = 2 ** 32;

/** The 32-bit hash of the fingerprint at a position; all bits are equally distributed. */
export type FingerprintHash = (fingerprints: Uint32Array, at: number) => number;

/**
 * An unpredictable hash: a random number for each value of each byte of a fingerprint, joined by
 * XOR. With this simple tabulation linear probing takes constant time (Pătraşcu and Thorup 2012).
 * The author of the log chooses the fingerprints, so sums of products are not enough: words that
 * end in zeros give hashes that do, whatever the factors.
 */
export function createFingerprintHash(): FingerprintHash {
  const table = crypto.getRandomValues(new Uint32Array(FINGERPRINT_BYTES * BYTE_VALUES));
  return (fingerprints, at) => {
    let hash = 0;
    let row = 0;
    for (let word = 0; word < FINGERPRINT_WORDS; word += 1) {
      let rest = fingerprints[at + word] as number;
      for (let byte = 0; byte < Uint32Array.BYTES_PER_ELEMENT; byte += 1) {
        hash ^= table[row + (rest & 0xff)] as number;
        rest >>>= 8;
        row += BYTE_VALUES;
      }
    }
    return hash >>> 0;
  };
}

/** The partition of a fingerprint, one of 256: the first 8 bits of its hash. */
export function partOf(hash: number): number {
  return hash >>> 24;
}

/**
 * The first slot to probe for a fingerprint, by the other bits: within a partition the first 8 are
 * equal.
 */
export function slotOf(hash: number, slots: number): number {
  return Math.floor((((hash << 8) >>> 0) / TWO_32) * slots);
}
