import { equalBytes } from "@countersign/core";
import type { StoreHead } from "../store/store.js";
import type { KnownHead } from "./seal.js";

/** Trees that this log grew, each from the one before. */
type OwnLine = {
  /** The newest tree and its predecessor, which stays the head when an append fails. */
  trees: readonly StoreHead[];
  /** The signed tree that all of them extend. */
  holds: KnownHead | undefined;
};

/**
 * Tells, without reading the store, whether only this log appended since the last signed tree.
 * Growth is recorded before its append: a tree extends its predecessor whether or not the append
 * succeeds.
 */
export class Descent {
  #line: OwnLine = { trees: [], holds: undefined };

  /** Records that this log grows one tree from another. */
  grow(from: StoreHead, to: StoreHead): void {
    this.#lineOf(from).trees = [to, from];
  }

  /** The lineage of a head that will be signed; drops the trees that do not extend this head. */
  lineFrom(head: StoreHead): OwnLine {
    const line = this.#lineOf(head);
    line.trees = line.trees.slice(0, line.trees.findIndex((tree) => isSame(tree, head)) + 1);
    return line;
  }

  /** The lineage of a tree; a tree of another writer starts a new one. */
  #lineOf(head: StoreHead): OwnLine {
    if (!this.#line.trees.some((tree) => isSame(tree, head))) {
      this.#line = { trees: [head], holds: undefined };
    }
    return this.#line;
  }
}

function isSame(one: StoreHead, other: StoreHead): boolean {
  if (one === other) return true;
  if (one.size !== other.size) return false;
  const hashes = other.hashes;
  return one.hashes.every((hash, index) => equalBytes(hash, hashes[index] as Uint8Array));
}
