import { BATCH_PREFIX } from "../receipt/batch-signature.js";

/** The number of 32-bit words in a fingerprint. */
export const FINGERPRINT_WORDS = 4;

const HEX_DIGITS = 8;
const HASHED_WORDS = 3;
const SINGLE_PREFIX = "ed25519:";
/** No index in a group. */
const ALONE = 0xffff_ffff;

/**
 * Writes the fingerprint of a receipt: 96 bits of its signature's first half, which no two messages
 * share, and its index in the group that shares the signature. Two entries with one fingerprint
 * hold one receipt. For an invalid signature the value is undefined.
 */
export function writeFingerprint(
  signature: string,
  fingerprints: Uint32Array,
  entry: number,
): void {
  const isBatch = signature.startsWith(BATCH_PREFIX);
  const digitsAt = signature.startsWith(SINGLE_PREFIX) ? SINGLE_PREFIX.length : 0;
  const start = isBatch ? signature.indexOf(":", BATCH_PREFIX.length) + 1 : digitsAt;
  const at = entry * FINGERPRINT_WORDS;
  for (let word = 0; word < HASHED_WORDS; word += 1) {
    const from = start + word * HEX_DIGITS;
    fingerprints[at + word] = Number.parseInt(signature.slice(from, from + HEX_DIGITS), 16);
  }
  fingerprints[at + HASHED_WORDS] = isBatch
    ? Number.parseInt(signature.slice(BATCH_PREFIX.length), 10)
    : ALONE;
}
