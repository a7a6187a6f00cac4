import { hash } from "node:crypto";
import { SCRATCH_START, threadBuffer } from "./scratch-buffer.js";

const HASH_BYTES = 32;
/** Bytes of one subtree: its height and its hash. */
export const NODE_BYTES = 1 + HASH_BYTES;
/** Subtrees grow up to one hash of a tile level; the owner of the whole tree joins those. */
export const MAX_HEIGHT = 8;

const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** The node over two hashes (RFC 6962) as latin1 strings: a third of the cost of buffers. */
export function joinHashes(left: string, right: string): string {
  node.write(left + right, 1, "latin1");
  return hash("sha256", node, "binary");
}

/** The nodes over consecutive pairs of hashes. */
function joinPairs(hashes: readonly string[]): string[] {
  const buffer = threadBuffer();
  buffer.ensureCapacity(SCRATCH_START + hashes.length * HASH_BYTES);
  const end = buffer.write(hashes.join(""), SCRATCH_START);
  const above: string[] = [];
  for (let at = SCRATCH_START; at < end; at += 2 * HASH_BYTES) {
    above.push(buffer.nodeHash(at, at + HASH_BYTES));
  }
  return above;
}

/**
 * The largest aligned subtrees over leaves that start at index `first`, from the left: height and
 * hash of each.
 */
export function subtreesOver(leaves: readonly string[], first: number): Buffer {
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
