import type { Frontier } from "../merkle/tree.js";
import { joinHashes } from "../sign/subtrees.js";

/**
 * A frontier that stores its hashes as latin1 strings and converts them to bytes on demand. Most
 * appends never need the bytes, and converting each hash took longer than the hashing of a small
 * flush.
 */
export class MutableFrontier implements Frontier {
  declare readonly size: number;
  declare readonly stack: readonly string[];
  /** The seal of this tree, if its log has one. */
  declare seal: Uint8Array | undefined;

  constructor(size: number, stack: readonly string[]) {
    this.size = size;
    this.stack = stack;
    this.seal = undefined;
  }

  /** Converts any frontier. */
  static from(head: Frontier): MutableFrontier {
    if (head instanceof MutableFrontier) return head;
    const stack = head.hashes.map((one) => Buffer.from(one).toString("latin1"));
    return new MutableFrontier(head.size, stack);
  }

  get hashes(): readonly Uint8Array[] {
    return this.stack.map((one) => Buffer.from(one, "latin1"));
  }

  /** The root of a non-empty tree. */
  root(): Uint8Array {
    return Buffer.from(
      this.stack.reduceRight((right, left) => joinHashes(left, right)),
      "latin1",
    );
  }
}
