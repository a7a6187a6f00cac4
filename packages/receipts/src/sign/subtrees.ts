import { HASH_BYTES } from "../merkle/hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import { SCRATCH_START, threadBuffer } from "./scratch-buffer.js";

/** Bytes of one subtree: its height and its hash. */
export const NODE_BYTES = 1 + HASH_BYTES;
/** Subtrees grow up to one hash of a tile level; the owner of the whole tree joins those. */
export const MAX_HEIGHT = 8;

/** The nodes over consecutive pairs of hashes. */
function joinPairs(hashes: readonly Latin1Hash[]): Latin1Hash[] {
  const buffer = threadBuffer();
  buffer.ensureCapacity(SCRATCH_START + hashes.length * HASH_BYTES);
  const end = buffer.write(hashes.join(""), SCRATCH_START);
  const above: Latin1Hash[] = [];
  for (let at = SCRATCH_START; at < end; at += 2 * HASH_BYTES) {
    above.push(buffer.nodeHash(at, at + HASH_BYTES));
  }
  return above;
}

/**
 * The largest aligned subtrees over leaves that start at index `first`, from the left: height and
 * hash of each.
 */
export function subtreesOver(leaves: readonly Latin1Hash[], first: number): Buffer {
  const left: string[] = [];
  const right: string[] = [];
  let level = leaves;
  let place = first;
  let height = 0;
  for (; level.length > 0 && height < MAX_HEIGHT; height += 1) {
    const mark = String.fromCharCode(height);
    // The sibling of the first hash may be before these leaves, and that of the last after them.
    const start = place % 2;
    if (start === 1) left.push(mark, level[0] as string);
    const end = level.length - ((level.length - start) % 2);
    if (end < level.length) right.unshift(mark, level[end] as string);
    level = start < end ? joinPairs(level.slice(start, end)) : [];
    place = (place + start) / 2;
  }
  for (const one of level) left.push(String.fromCharCode(height), one);
  const text = left.join("") + right.join("");
  const bytes = Buffer.allocUnsafeSlow(text.length);
  bytes.write(text, "latin1");
  return bytes;
}
