import { equalBytes } from "@countersign/core";
import { HASH_BYTES, nodeHash } from "./hash.js";

const half = (value: number): number => Math.floor(value / 2);

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/**
 * The root that an inclusion proof leads to, or undefined when the proof has the wrong length for
 * this index and size (RFC 9162 section 2.1.3.2).
 */
export function rootFromInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
): Uint8Array | undefined {
  if (!isCount(index) || !isCount(size) || index >= size) return undefined;
  let at = index;
  let last = size - 1;
  let root = leaf;
  for (const hash of proof) {
    if (last === 0 || hash.length !== HASH_BYTES) return undefined;
    if (at % 2 === 1 || at === last) {
      root = nodeHash(hash, root);
      while (at % 2 === 0 && at !== 0) {
        at = half(at);
        last = half(last);
      }
    } else {
      root = nodeHash(root, hash);
    }
    at = half(at);
    last = half(last);
  }
  return last === 0 ? root : undefined;
}

/** Whether the leaf is at `index` of the tree with this size and root. */
export function verifyInclusion(
  leaf: Uint8Array,
  index: number,
  size: number,
  proof: readonly Uint8Array[],
  root: Uint8Array,
): boolean {
  const led = rootFromInclusion(leaf, index, size, proof);
  return led !== undefined && equalBytes(led, root);
}

/** Whether the newer tree starts with exactly the leaves of the older one. */
export function verifyConsistency(
  older: { size: number; root: Uint8Array },
  newer: { size: number; root: Uint8Array },
  proof: readonly Uint8Array[],
): boolean {
  if (!isCount(older.size) || !isCount(newer.size) || older.size > newer.size) return false;
  if (older.size === newer.size) return proof.length === 0 && equalBytes(older.root, newer.root);
  if (older.size === 0) return proof.length === 0;
  if (proof.some((hash) => hash.length !== HASH_BYTES)) return false;
  let at = older.size - 1;
  let last = newer.size - 1;
  while (at % 2 === 1) {
    at = half(at);
    last = half(last);
  }
  // `at` is 0 exactly when the old size is a power of two: its root is then the starting subtree.
  const [first, ...rest] = at === 0 ? [older.root, ...proof] : proof;
  if (first === undefined) return false;
  let oldRoot = first;
  let newRoot = first;
  for (const hash of rest) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      oldRoot = nodeHash(hash, oldRoot);
      newRoot = nodeHash(hash, newRoot);
      while (at % 2 === 0 && at !== 0) {
        at = half(at);
        last = half(last);
      }
    } else {
      newRoot = nodeHash(newRoot, hash);
    }
    at = half(at);
    last = half(last);
  }
  return last === 0 && equalBytes(oldRoot, older.root) && equalBytes(newRoot, newer.root);
}
