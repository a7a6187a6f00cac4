import type { Frontier } from "../merkle/tree.js";
import { joinHashes } from "../sign/subtrees.js";

/**
 * A frontier as the log grows it: its hashes are latin1 strings, and bytes only for whoever asks. Nobody does at
 * most appends, and making them of each hash and back took longer than the hashes of a small flush.
 */
export class GrownTree implements Frontier {
  declare readonly size: number;
  declare readonly stack: readonly string[];
  /** The seal of this tree, where its log has one. */
  declare seal: Uint8Array | undefined;

  constructor(size: number, stack: readonly string[]) {
    this.size = size;
    this.stack = stack;
    this.seal = undefined;
  }

  /** The tree of any frontier. */
  static from(head: Frontier): GrownTree {
    if (head instanceof GrownTree) return head;
    const stack = head.hashes.map((one) => Buffer.from(one).toString("latin1"));
    return new GrownTree(head.size, stack);
  }

  get hashes(): readonly Uint8Array[] {
    return this.stack.map((one) => Buffer.from(one, "latin1"));
  }

  /** The root; of a tree that is not empty. */
  root(): Uint8Array {
    return Buffer.from(
      this.stack.reduceRight((right, left) => joinHashes(left, right)),
      "latin1",
    );
  }
}
