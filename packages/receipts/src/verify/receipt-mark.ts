import { BATCH_PREFIX } from "../receipt/batch-signature.js";

/** Numbers of 32 bits in a mark. */
export const MARK_WORDS = 4;

const HEX_DIGITS = 8;
const HASHED_WORDS = 3;
const SINGLE_PREFIX = "ed25519:";
/** No place in a group. */
const ALONE = 0xffff_ffff;

/**
 * What tells a receipt from every other without looking at the others: 96 bits of its signature's first half, which no
 * two messages share, and its place in the group that shares the signature. Two entries with one mark hold one receipt.
 * Of what is no signature the mark says nothing.
 */
export function writeMark(signature: string, marks: Uint32Array, entry: number): void {
  const isBatch = signature.startsWith(BATCH_PREFIX);
  const digitsAt = signature.startsWith(SINGLE_PREFIX) ? SINGLE_PREFIX.length : 0;
  const start = isBatch ? signature.indexOf(":", BATCH_PREFIX.length) + 1 : digitsAt;
  const at = entry * MARK_WORDS;
  for (let word = 0; word < HASHED_WORDS; word += 1) {
    const from = start + word * HEX_DIGITS;
    marks[at + word] = Number.parseInt(signature.slice(from, from + HEX_DIGITS), 16);
  }
  marks[at + HASHED_WORDS] = isBatch
    ? Number.parseInt(signature.slice(BATCH_PREFIX.length), 10)
    : ALONE;
}
