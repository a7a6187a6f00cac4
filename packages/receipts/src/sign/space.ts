import { hash } from "node:crypto";

const HASH_BYTES = 32;
/** Up to this many bytes `copyWithin`, a call out of compiled code, takes longer than a loop. */
const LOOP_BYTES = 96;
const WORD_BYTES = 4;
/** Memory that is kept for the next group: four times what one of 128 receipts takes. */
const KEPT_BYTES = 1 << 20;

/** Where the caller's part of the memory begins. */
export const SPACE_START: number = 1 + 2 * HASH_BYTES;

/**
 * Memory in which a group is put together, used again for the next one. Copying bytes inside it costs a third of
 * putting strings together and writing them, and leaves nothing to collect.
 */
export class Space {
  bytes: Buffer;
  #words: DataView;
  /** The input of a tree's node: 0x01 and two hashes (RFC 6962). */
  #node: Buffer;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(size, SPACE_START));
    this.#words = new DataView(this.bytes.buffer);
    this.#node = this.bytes.subarray(0, SPACE_START);
    this.#node[0] = 1;
  }

  /** Finds memory up to `end`; what was written stays. */
  reach(end: number): void {
    if (end <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(end * 2);
    larger.set(this.bytes);
    this.bytes = larger;
    this.#words = new DataView(larger.buffer);
    this.#node = larger.subarray(0, SPACE_START);
  }

  /** Copies bytes inside this memory and says where they end. The two places do not overlap. */
  copy(from: number, to: number, length: number): number {
    const { bytes } = this;
    const end = from + length;
    if (length > LOOP_BYTES) {
      bytes.copyWithin(to, from, end);
      return to + length;
    }
    const words = this.#words;
    let at = from;
    let out = to;
    for (; at + WORD_BYTES <= end; at += WORD_BYTES, out += WORD_BYTES) {
      words.setInt32(out, words.getInt32(at, true), true);
    }
    for (; at < end; at += 1, out += 1) bytes[out] = bytes[at] as number;
    return out;
  }

  /** Writes a text of one byte a character and says where it ends. */
  write(text: string, at: number): number {
    return at + this.bytes.write(text, at, text.length, "latin1");
  }

  /** Writes a count of so many decimal digits and says where it ends. */
  writeCount(count: number, digits: number, at: number): number {
    const end = at + digits;
    let rest = count;
    for (let place = end - 1; place >= at; place -= 1) {
      const tens = Math.floor(rest / 10);
      this.bytes[place] = 0x30 + rest - tens * 10;
      rest = tens;
    }
    return end;
  }

  /** The SHA-256 of a part, as a latin1 string: the cheapest form to get one in and to pass it on. */
  hash(from: number, to: number): string {
    return hash("sha256", this.bytes.subarray(from, to), "binary");
  }

  /** The node over two hashes that lie here, as a latin1 string. */
  nodeHash(left: number, right: number): string {
    this.copy(left, 1, HASH_BYTES);
    this.copy(right, 1 + HASH_BYTES, HASH_BYTES);
    return hash("sha256", this.#node, "binary");
  }
}

let kept = new Space(KEPT_BYTES / 4);

/** The memory of this thread. A group is signed without a pause, so one is enough. */
export function threadSpace(): Space {
  // One group of large entries must not take its memory away for good.
  if (kept.bytes.length > KEPT_BYTES) kept = new Space(KEPT_BYTES / 4);
  return kept;
}
