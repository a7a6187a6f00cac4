import { hash } from "node:crypto";
import type { SignedGroup } from "./group.js";
import { Subtrees } from "./subtrees.js";

const HASH_BYTES = 32;
const LENGTH_BYTES = 2;

/** Collects entries as records with their leaf hashes and subtrees: a signed group in the making. */
export class RecordWriter {
  readonly #first: number;
  readonly #places: Uint32Array;
  readonly #leaves: string[] = [];
  readonly #subtrees: Subtrees;
  #records: Buffer;
  #count = 0;
  #end = 0;

  constructor(first: number, count: number, expectedBytes: number) {
    this.#first = first;
    this.#places = new Uint32Array(count * 2);
    // Their own memory, not slices of Node's pool, so that a worker can hand them over without a copy.
    this.#records = Buffer.allocUnsafeSlow(expectedBytes);
    this.#subtrees = new Subtrees(first);
  }

  /** Adds an entry: the text before its number and after it. */
  add(before: string, after: string, plain: boolean): void {
    const seq = String(this.#first + this.#count);
    const length = before.length + seq.length + after.length;
    const room = LENGTH_BYTES + (plain ? length : length * 3);
    if (this.#end + room > this.#records.length) this.#grow(room);
    const start = this.#end;
    const records = this.#records;
    let at = start + LENGTH_BYTES;
    let seqAt: number;
    if (plain) {
      seqAt = at + before.length;
      at += records.write(before + seq + after, at, length, "latin1");
    } else {
      seqAt = at + records.write(before, at, before.length * 3, "utf8");
      at = seqAt + records.write(seq + after, seqAt, (seq.length + after.length) * 3, "utf8");
    }
    this.#places[this.#count * 2] = seqAt;
    this.#settle(start, at);
  }

  /** Adds an entry by copying it: the bytes before its number and after it. */
  addBytes(before: Uint8Array, after: Uint8Array): void {
    const seq = String(this.#first + this.#count);
    const room = LENGTH_BYTES + before.length + seq.length + after.length;
    if (this.#end + room > this.#records.length) this.#grow(room);
    const start = this.#end;
    this.#records.set(before, start + LENGTH_BYTES);
    const seqAt = start + LENGTH_BYTES + before.length;
    this.#records.write(seq, seqAt, seq.length, "latin1");
    this.#records.set(after, seqAt + seq.length);
    this.#places[this.#count * 2] = seqAt;
    this.#settle(start, start + room);
  }

  #settle(start: number, end: number): void {
    const records = this.#records;
    // The leaf prefix 0x00 stands for a moment where the length will be: no copy for hashing.
    records[start + 1] = 0;
    const leaf = hash("sha256", records.subarray(start + 1, end), "binary");
    const length = end - start - LENGTH_BYTES;
    records[start] = length >> 8;
    records[start + 1] = length & 0xff;
    this.#places[this.#count * 2 + 1] = end;
    this.#leaves.push(leaf);
    this.#subtrees.add(leaf);
    this.#count += 1;
    this.#end = end;
  }

  #grow(room: number): void {
    const larger = Buffer.allocUnsafeSlow((this.#end + room) * 2);
    this.#records.copy(larger, 0, 0, this.#end);
    this.#records = larger;
  }

  take(): SignedGroup {
    const leaves = Buffer.allocUnsafeSlow(this.#count * HASH_BYTES);
    leaves.write(this.#leaves.join(""), "latin1");
    return {
      first: this.#first,
      records: this.#records.subarray(0, this.#end),
      places: this.#places,
      leaves,
      nodes: this.#subtrees.take(),
    };
  }
}

/** The same entries with other numbers: for a log that others append to, and after a failure. */
export function renumber(group: SignedGroup, first: number): SignedGroup {
  const { places, records } = group;
  const count = places.length / 2;
  const writer = new RecordWriter(first, count, records.length + count * 8);
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    const seqAt = places[index * 2] as number;
    const end = places[index * 2 + 1] as number;
    const digits = String(group.first + index).length;
    writer.addBytes(
      records.subarray(start + LENGTH_BYTES, seqAt),
      records.subarray(seqAt + digits, end),
    );
    start = end;
  }
  return writer.take();
}
