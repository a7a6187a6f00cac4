import { HASH_BYTES } from "../merkle/hash.js";
import { latin1Hash } from "../merkle/latin1-hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";

/** Up to this many bytes a loop is faster than `copyWithin`, a call out of compiled code. */
const LOOP_BYTES = 96;
const WORD_BYTES = 4;
/** Memory kept for the next group: four times the need of 128 receipts. */
const KEPT_BYTES = 1 << 20;

/** Start of the caller's part of the buffer. */
export const SCRATCH_START: number = 1 + 2 * HASH_BYTES;

/**
 * The buffer in which a group is built, reused for the next one. Copying bytes inside it costs a
 * third of joining and writing strings, and creates no garbage.
 */
export class ScratchBuffer {
  bytes: Buffer;
  #words: DataView;
  /** The input of a tree node: 0x01 and two hashes (RFC 6962). */
  #node: Buffer;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafeSlow(Math.max(size, SCRATCH_START));
    this.#words = new DataView(this.bytes.buffer);
    this.#node = this.bytes.subarray(0, SCRATCH_START);
    this.#node[0] = 1;
  }

  /** Grows the buffer to `end`; its content stays. */
  ensureCapacity(end: number): void {
    if (end <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(end * 2);
    larger.set(this.bytes);
    this.bytes = larger;
    this.#words = new DataView(larger.buffer);
    this.#node = larger.subarray(0, SCRATCH_START);
  }

  /** Copies bytes inside the buffer and returns the end position. The ranges must not overlap. */
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

  /** Writes a latin1 text and returns the end position. */
  write(text: string, at: number): number {
    return at + this.bytes.write(text, at, text.length, "latin1");
  }

  /** Writes a number with a fixed number of digits and returns the end position. */
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

  /** SHA-256 of a range. */
  hash(from: number, to: number): Latin1Hash {
    return latin1Hash(this.bytes.subarray(from, to));
  }

  /** The hash of the node over two hashes in the buffer. */
  nodeHash(left: number, right: number): Latin1Hash {
    this.copy(left, 1, HASH_BYTES);
    this.copy(right, 1 + HASH_BYTES, HASH_BYTES);
    return latin1Hash(this.#node);
  }
}

let kept = new ScratchBuffer(KEPT_BYTES / 4);

/** The buffer of this thread. Signing a group is synchronous, so one is enough. */
export function threadBuffer(): ScratchBuffer {
  // One group of large entries must not keep its memory allocated.
  if (kept.bytes.length > KEPT_BYTES) kept = new ScratchBuffer(KEPT_BYTES / 4);
  return kept;
}
