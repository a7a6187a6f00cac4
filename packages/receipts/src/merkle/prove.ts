import { nodeHash } from "./hash.js";
import type { LeafRange } from "./ranges.js";
import { consistencyRanges, inclusionRanges } from "./ranges.js";

/**
 * Returns the root of the perfect subtree over leaves `index * 2^level` to `(index + 1) * 2^level`.
 */
export type NodeReader = (level: number, index: number) => Uint8Array | Promise<Uint8Array>;

async function hashRange(range: LeafRange, read: NodeReader): Promise<Uint8Array> {
  const parts: Promise<Uint8Array>[] = [];
  let { start } = range;
  while (start < range.end) {
    let level = 0;
    let width = 1;
    while (start % (width * 2) === 0 && start + width * 2 <= range.end) {
      width *= 2;
      level += 1;
    }
    parts.push(Promise.resolve(read(level, start / width)));
    start += width;
  }
  const hashes = await Promise.all(parts);
  return hashes.reduceRight((right, left) => nodeHash(left, right));
}

/** Inclusion proof of leaf `index` in the tree of the first `size` leaves. */
export async function proveInclusion(
  index: number,
  size: number,
  read: NodeReader,
): Promise<Uint8Array[]> {
  return Promise.all(inclusionRanges(index, size).map((range) => hashRange(range, read)));
}

/** Consistency proof between the trees of the first `oldSize` and the first `newSize` leaves. */
export async function proveConsistency(
  oldSize: number,
  newSize: number,
  read: NodeReader,
): Promise<Uint8Array[]> {
  return Promise.all(consistencyRanges(oldSize, newSize).map((range) => hashRange(range, read)));
}

/** Root of the tree of the first `size` leaves, which must not be empty. */
export async function rootFromNodes(size: number, read: NodeReader): Promise<Uint8Array> {
  if (!Number.isSafeInteger(size) || size < 1) throw new TypeError("the tree has no leaves");
  return hashRange({ start: 0, end: size }, read);
}
