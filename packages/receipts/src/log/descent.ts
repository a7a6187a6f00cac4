import { equalBytes } from "@countersign/core";
import type { StoreHead } from "../store/store.js";
import type { KnownHead } from "./seal.js";

/** Trees of which each was made by this log out of the one before. */
type OwnLine = {
  /** The newest tree, and behind it the one it was made of, which stays the head where an append fails. */
  trees: readonly StoreHead[];
  /** What all of them are known to go on from. */
  holds: KnownHead | undefined;
};

/**
 * Tells of a head, without a look at the store, whether this log alone made it out of what was signed for. A tree goes on
 * from the one it was made of whatever becomes of its append, so that growth is noted before it.
 */
export class Descent {
  #line: OwnLine = { trees: [], holds: undefined };

  /** This log makes one tree out of another. */
  grow(from: StoreHead, to: StoreHead): void {
    this.#lineOf(from).trees = [to, from];
  }

  /** The line of a head that is to be signed for: from now on nothing is of it that does not go on from this head. */
  lineFrom(head: StoreHead): OwnLine {
    const line = this.#lineOf(head);
    line.trees = line.trees.slice(0, line.trees.findIndex((tree) => isSame(tree, head)) + 1);
    return line;
  }

  /** The line that a tree is of; what somebody else made begins another. */
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
