import { EMPTY_ROOT, HASH_BYTES, nodeHash } from "./hash.js";

/** The state needed to extend a tree: its size and the roots of its perfect subtrees. */
export type Frontier = {
  readonly size: number;
  /** Largest subtree first; as many as `size` has one bits. */
  readonly hashes: readonly Uint8Array[];
};

/** An append-only tree that keeps only its frontier: at most 53 hashes. */
export type TreeBuilder = {
  readonly size: number;
  /** Adds the hash of the next leaf. */
  append(hash: Uint8Array): void;
  /** The RFC 6962 root of everything appended so far. */
  root(): Uint8Array;
  /** A copy to store and resume from. */
  frontier(): Frontier;
};

function countOnes(size: number): number {
  let ones = 0;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) ones += rest % 2;
  return ones;
}

/** Root of a tree from its frontier alone. */
export function frontierRoot(frontier: Frontier): Uint8Array {
  const { hashes } = frontier;
  let root = hashes.at(-1);
  if (root === undefined) return EMPTY_ROOT;
  for (let index = hashes.length - 2; index >= 0; index -= 1) {
    root = nodeHash(hashes[index] as Uint8Array, root);
  }
  return root;
}

/** Starts an empty tree, or resumes from a stored frontier. */
export function createTreeBuilder(from?: Frontier): TreeBuilder {
  let size = from?.size ?? 0;
  const hashes = [...(from?.hashes ?? [])];
  if (!Number.isSafeInteger(size) || size < 0 || hashes.length !== countOnes(size)) {
    throw new TypeError("a frontier holds one hash for every one bit of its size");
  }
  if (hashes.some((hash) => hash.length !== HASH_BYTES)) {
    throw new TypeError("a frontier hash is 32 bytes");
  }
  return {
    get size() {
      return size;
    },
    append(hash) {
      if (hash.length !== HASH_BYTES) throw new TypeError("a leaf hash is 32 bytes");
      let carry = hash;
      for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) {
        carry = nodeHash(hashes.pop() as Uint8Array, carry);
      }
      hashes.push(carry);
      size += 1;
    },
    root: () => frontierRoot({ size, hashes }),
    frontier: () => ({ size, hashes: [...hashes] }),
  };
}
