import { HASH_BYTES } from "../merkle/hash.js";
import type { Segment } from "./partitions.js";
import type { Statement } from "./statement-batch.js";

// The binary format of COPY: a signature with flags and the length of an extension, then for each
// row the number of columns, and each column with its length.
const HEADER = Buffer.from("PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
const TRAILER = Buffer.from([0xff, 0xff]);
const SEQ_AT = 2 + 4 + 4 + 4;
const LEAF_AT = SEQ_AT + 8 + 4;
const BODY_AT = LEAF_AT + HASH_BYTES + 4;
/** Bytes of the length in front of an entry. */
const LENGTH_BYTES = 2;

/** The columns of a row before its body, with a number and a leaf of zeros. */
function rowHead(logId: number): Buffer {
  const head = Buffer.alloc(BODY_AT);
  head.writeInt16BE(4, 0);
  head.writeInt32BE(4, 2);
  head.writeInt32BE(logId, 6);
  head.writeInt32BE(8, 10);
  head.writeInt32BE(HASH_BYTES, SEQ_AT + 8);
  return head;
}

/**
 * Stores entries by COPY, which takes 4 µs less an entry on the server than an INSERT of arrays.
 * `records` has them in bundle encoding from `position` on; `end` is the position after the last.
 */
export function copyStatement(
  logId: number,
  { table, from, to }: Segment,
  records: Buffer,
  position: number,
  leaves: Uint8Array,
): { readonly statement: Statement; readonly end: number } {
  const head = rowHead(logId);
  let end = position;
  for (let seq = from; seq < to; seq += 1) end += LENGTH_BYTES + records.readUInt16BE(end);
  const rows = (to - from) * (BODY_AT - LENGTH_BYTES) + (end - position);
  const data = Buffer.allocUnsafe(HEADER.length + rows + TRAILER.length);
  let at = HEADER.copy(data);
  let read = position;
  for (let seq = from; seq < to; seq += 1) {
    const length = records.readUInt16BE(read);
    data.set(head, at);
    data.writeUInt32BE(Math.floor(seq / 2 ** 32), at + SEQ_AT);
    data.writeUInt32BE(seq % 2 ** 32, at + SEQ_AT + 4);
    const leaf = (seq - from) * HASH_BYTES;
    data.set(leaves.subarray(leaf, leaf + HASH_BYTES), at + LEAF_AT);
    data.writeInt32BE(length, at + BODY_AT - 4);
    records.copy(data, at + BODY_AT, read + LENGTH_BYTES, read + LENGTH_BYTES + length);
    at += BODY_AT + length;
    read += LENGTH_BYTES + length;
  }
  TRAILER.copy(data, at);
  const name = `countersign_append_${table}`;
  const text = `COPY ${table} (log_id, seq, leaf, body) FROM STDIN (FORMAT binary)`;
  return { statement: { name, text, values: [], data }, end };
}
