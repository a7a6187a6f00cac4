import { hash } from "node:crypto";
import { BATCH_PREFIX, batchRootMessage } from "../receipt/batch-signature.js";
import type { SignInto } from "./group.js";
import { joinHashes } from "./subtrees.js";

/**
 * Receipts under one root signature. Each doubling adds 43 characters of path to every receipt and
 * halves what is left of the signing cost; at 32 that cost is under 1 µs a receipt and the disk,
 * not the processor, is what limits a log (docs/decisions/2026-11-15-receipt-log-files.md).
 */
export const RECEIPTS_PER_ROOT = 32;

const SIGNATURE_BYTES = 64;
const HASH_BYTES = 32;
const scratch = Buffer.allocUnsafeSlow(HASH_BYTES);

function base64UrlOf(hashText: string): string {
  scratch.write(hashText, 0, HASH_BYTES, "latin1");
  return scratch.toString("base64url");
}

/**
 * The signature strings of `buildBatch`, with hashes held as latin1 strings: a third of its cost,
 * which is what the log's throughput hangs on. A test holds the two equal.
 */
function signTogether(leaves: readonly string[], sign: SignInto): string[] {
  const levels: string[][] = [];
  let level: string[] = [...leaves];
  while (level.length > 1) {
    const above: string[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] as string;
      const right = level[index + 1];
      above.push(right === undefined ? left : joinHashes(left, right));
    }
    levels.push(level.map(base64UrlOf));
    level = above;
  }
  const root = Buffer.from(level[0] as string, "latin1");
  const signature = Buffer.alloc(SIGNATURE_BYTES);
  sign(signature, batchRootMessage(leaves.length, root));
  const shared = `/${leaves.length}:${signature.toString("hex")}:`;
  return leaves.map((_, index) => {
    let text = `${BATCH_PREFIX}${index}${shared}`;
    let at = index;
    for (const texts of levels) {
      // The last node of an odd level has no sibling there: it moves up as it is.
      const sibling = texts[at % 2 === 0 ? at + 1 : at - 1];
      if (sibling !== undefined) text += sibling;
      at >>= 1;
    }
    return text;
  });
}

/** Signature strings for a group in `batch` mode; undefined where a receipt is signed singly. */
export function batchSignatures(
  count: number,
  singles: readonly number[],
  /** The text that is signed for. */
  body: (index: number) => string,
  sign: SignInto,
): (string | undefined)[] {
  const signatures: (string | undefined)[] = Array.from({ length: count });
  const apart = new Set(singles);
  const members: number[] = [];
  for (let index = 0; index < count; index += 1) if (!apart.has(index)) members.push(index);
  for (let start = 0; start < members.length; start += RECEIPTS_PER_ROOT) {
    const chosen = members.slice(start, start + RECEIPTS_PER_ROOT);
    // A batch of one would be a longer way to say the same.
    if (chosen.length === 1) continue;
    const leaves = chosen.map((index) => hash("sha256", `\0${body(index)}`, "binary"));
    const texts = signTogether(leaves, sign);
    chosen.forEach((index, position) => {
      signatures[index] = texts[position];
    });
  }
  return signatures;
}
