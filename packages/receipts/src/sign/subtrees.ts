import { hash } from "node:crypto";

const HASH_BYTES = 32;
/** Bytes of one subtree: its height and its hash. */
export const NODE_BYTES = 1 + HASH_BYTES;
/** Subtrees grow to one hash of a tile level; joining those is left to whoever knows the whole tree. */
export const MAX_HEIGHT = 8;

const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/** The node over two hashes (RFC 6962), all of them latin1 strings: a third of the cost of buffers. */
export function joinHashes(left: string, right: string): string {
  node.write(left + right, 1, "latin1");
  return hash("sha256", node, "binary");
}

/** The largest aligned subtrees over the leaves that begin at a place of the log. */
export class Subtrees {
  readonly #heights: number[] = [];
  readonly #hashes: string[] = [];
  #next: number;

  constructor(first: number) {
    this.#next = first;
  }

  add(leaf: string): void {
    const heights = this.#heights;
    const hashes = this.#hashes;
    let carry = leaf;
    let height = 0;
    // The left neighbour may lie before the group: then the subtree cannot grow here.
    for (
      let place = this.#next;
      place % 2 === 1 && height < MAX_HEIGHT && heights[heights.length - 1] === height;
      place = (place - 1) / 2
    ) {
      heights.pop();
      carry = joinHashes(hashes.pop() as string, carry);
      height += 1;
    }
    heights.push(height);
    hashes.push(carry);
    this.#next += 1;
  }

  /** Height and hash of each, from the left. */
  take(): Uint8Array {
    const bytes = Buffer.allocUnsafeSlow(this.#hashes.length * NODE_BYTES);
    this.#hashes.forEach((one, index) => {
      bytes[index * NODE_BYTES] = this.#heights[index] as number;
      bytes.write(one, index * NODE_BYTES + 1, HASH_BYTES, "latin1");
    });
    return bytes;
  }
}
