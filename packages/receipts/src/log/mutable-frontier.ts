import { hashBytes, joinHashes, latin1HashAt } from "../merkle/latin1-hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import type { Frontier } from "../merkle/tree.js";

/**
 * A frontier that stores its hashes as Latin-1 strings and converts them to bytes on demand. Most
 * appends never need the bytes, and converting each hash took longer than the hashing of a small
 * flush.
 */
export class MutableFrontier implements Frontier {
  declare readonly size: number;
  declare readonly stack: readonly Latin1Hash[];
  /** The seal of this tree, if its log has one. */
  declare seal: Uint8Array | undefined;

  constructor(size: number, stack: readonly Latin1Hash[]) {
    this.size = size;
    this.stack = stack;
    this.seal = undefined;
  }

  /** Converts any frontier. */
  static from(head: Frontier): MutableFrontier {
    if (head instanceof MutableFrontier) return head;
    const stack = head.hashes.map((one) => latin1HashAt(Buffer.from(one)));
    return new MutableFrontier(head.size, stack);
  }

  get hashes(): readonly Uint8Array[] {
    return this.stack.map(hashBytes);
  }

  /** The root of a non-empty tree. */
  root(): Uint8Array {
    return hashBytes(this.stack.reduceRight((right, left) => joinHashes(left, right)));
  }
}
