import { sha256 } from "@countersign/core";

/** Length of every hash in the tree. */
export const HASH_BYTES = 32;

/** Root of the tree without leaves: SHA-256 of nothing (RFC 6962 section 2.1). */
export const EMPTY_ROOT: Uint8Array = sha256(new Uint8Array(0));

// Hashing is synchronous and copies its input, so one buffer is enough.
const nodeInput = new Uint8Array(1 + 2 * HASH_BYTES);
nodeInput[0] = 1;

/**
 * SHA-256(0x00
 *
 * entry). The prefix distinguishes a leaf from a node.
 */
export function leafHash(entry: Uint8Array): Uint8Array {
  const input = new Uint8Array(entry.length + 1);
  input.set(entry, 1);
  return sha256(input);
}

/** SHA-256(0x01 || left || right). */
export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_BYTES);
  return sha256(nodeInput);
}

/** Root of a list of subtree roots of equal size; an odd one moves up unchanged. */
export function rootOfLevel(hashes: readonly Uint8Array[]): Uint8Array {
  let level = hashes;
  while (level.length > 1) {
    const above: Uint8Array[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] as Uint8Array;
      const right = level[index + 1];
      above.push(right === undefined ? left : nodeHash(left, right));
    }
    level = above;
  }
  return level[0] ?? EMPTY_ROOT;
}
