import { hash } from "node:crypto";
import {
  BATCH_PREFIX,
  batchRootMessage,
  PATH_HASH_CHARACTERS,
} from "../receipt/batch-signature.js";
import type { SignInto } from "./group.js";
import { joinHashes } from "./subtrees.js";

/**
 * Receipts under one root signature. Each doubling adds 43 characters of path to every receipt and
 * halves what is left of the signing cost; at 32 that cost is under 1 µs a receipt and the disk,
 * not the processor, is what limits a log (docs/decisions/2026-11-15-receipt-log-files.md).
 */
export const RECEIPTS_PER_ROOT = 32;

const SIGNATURE_BYTES = 64;
// A hash with a zero byte behind it is 44 characters of base64url, of which the first 43 are the hash's:
// many are written and spelled by one call each, which costs a tenth of a call for every hash.
const SPELLED_BYTES = 33;
const SPELLED_CHARACTERS = 44;
const scratch = Buffer.allocUnsafeSlow(2 * RECEIPTS_PER_ROOT * SPELLED_BYTES);

/** Hashes as base64url. */
function spell(hashes: readonly string[]): string[] {
  const length = scratch.write(`${hashes.join("\0")}\0`, 0, "latin1");
  const text = scratch.toString("base64url", 0, length);
  return hashes.map((_, index) =>
    text.slice(index * SPELLED_CHARACTERS, index * SPELLED_CHARACTERS + PATH_HASH_CHARACTERS),
  );
}

/**
 * The signature strings of `buildBatch`, with hashes held as latin1 strings: a third of its cost,
 * which is what the log's throughput hangs on. A test holds the two equal.
 */
function signTogether(leaves: readonly string[], sign: SignInto): string[] {
  const hashes: string[] = [];
  const widths: number[] = [];
  let level = leaves;
  while (level.length > 1) {
    const above: string[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] as string;
      const right = level[index + 1];
      above.push(right === undefined ? left : joinHashes(left, right));
    }
    hashes.push(...level);
    widths.push(level.length);
    level = above;
  }
  const root = Buffer.from(level[0] as string, "latin1");
  const signature = Buffer.alloc(SIGNATURE_BYTES);
  sign(signature, batchRootMessage(leaves.length, root));

  const texts = spell(hashes);
  // From the root down: a path is the sibling's hash and the path of the node above.
  let paths = [""];
  let start = hashes.length;
  for (const width of widths.toReversed()) {
    start -= width;
    const above = paths;
    paths = [];
    for (let index = 0; index < width; index += 1) {
      const sibling = index ^ 1;
      const path = above[index >> 1] as string;
      // The last node of an odd level has no sibling there: it moves up as it is.
      paths.push(sibling < width ? (texts[start + sibling] as string) + path : path);
    }
  }
  const shared = `/${leaves.length}:${signature.toString("hex")}:`;
  return paths.map((path, index) => `${BATCH_PREFIX}${index}${shared}${path}`);
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
