import { equalBytes } from "@countersign/core";
import type { StoreHead } from "../store/store.js";
import type { KnownHead } from "./seal.js";

/** Trees that this log grew, each from the one before. */
type TreeChain = {
  /** The newest tree and its predecessor, which stays the head when an append fails. */
  trees: readonly StoreHead[];
  /** The signed tree that all of them extend. */
  signed: KnownHead | undefined;
};

/**
 * Tells, without reading the store, whether only this log appended since the last signed tree.
 * Growth is recorded before its append: a tree extends its predecessor whether or not the append
 * succeeds.
 */
export class OwnLineage {
  #chain: TreeChain = { trees: [], signed: undefined };

  /** Records that this log grows one tree from another. */
  grow(from: StoreHead, to: StoreHead): void {
    this.#chainOf(from).trees = [to, from];
  }

  /** The lineage of a head that will be signed; drops the trees that do not extend this head. */
  chainFrom(head: StoreHead): TreeChain {
    const chain = this.#chainOf(head);
    chain.trees = chain.trees.slice(0, chain.trees.findIndex((tree) => isSame(tree, head)) + 1);
    return chain;
  }

  /** The lineage of a tree; a tree of another writer starts a new one. */
  #chainOf(head: StoreHead): TreeChain {
    if (!this.#chain.trees.some((tree) => isSame(tree, head))) {
      this.#chain = { trees: [head], signed: undefined };
    }
    return this.#chain;
  }
}

function isSame(one: StoreHead, other: StoreHead): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  const hashes = other.hashes;
  return one.hashes.every((hash, index) => equalBytes(hash, hashes[index] as Uint8Array));
}
