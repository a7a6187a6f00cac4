import { buildBatch } from "../receipt/build-batch.js";
import type { SignInto } from "./group.js";

/**
 * Receipts under one root signature. Each doubling adds 43 characters of path to every receipt and
 * halves what is left of the signing cost; at 32 that cost is under 1 µs a receipt and the disk,
 * not the processor, is what limits a log (docs/decisions/2026-11-15-receipt-log-files.md).
 */
export const RECEIPTS_PER_ROOT = 32;

const SIGNATURE_BYTES = 64;

/** Signature strings for a group in `batch` mode; undefined where a receipt is signed singly. */
export function batchSignatures(
  count: number,
  singles: readonly number[],
  body: (index: number) => Uint8Array,
  sign: SignInto,
): (string | undefined)[] {
  const signatures: (string | undefined)[] = Array.from({ length: count });
  const apart = new Set(singles);
  const members: number[] = [];
  for (let index = 0; index < count; index += 1) if (!apart.has(index)) members.push(index);
  const signRoot = (message: Uint8Array): Uint8Array => {
    const signature = new Uint8Array(SIGNATURE_BYTES);
    sign(signature, message);
    return signature;
  };
  for (let start = 0; start < members.length; start += RECEIPTS_PER_ROOT) {
    const chosen = members.slice(start, start + RECEIPTS_PER_ROOT);
    // A batch of one would be a longer way to say the same.
    if (chosen.length === 1) continue;
    const texts = buildBatch(chosen.map(body), signRoot);
    chosen.forEach((index, position) => {
      signatures[index] = texts[position];
    });
  }
  return signatures;
}
