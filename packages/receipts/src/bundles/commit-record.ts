import { HASH_BYTES } from "../merkle/hash.js";

/**
 * A segment is entries in bundle encoding (16-bit big-endian length, bytes) and, after the entries of
 * each flush, one commit record: length 0 (no entry is empty), `C`, version 1, tree size as 64-bit
 * big-endian, root hash. Entries count only when a commit record with the right root follows them.
 */
export const COMMIT_BYTES = 2 + 2 + 8 + HASH_BYTES;

const MARK = Buffer.from([0, 0, 0x43, 1]);

/** The commit record of a tree. */
export function encodeCommit(size: number, root: Uint8Array): Buffer {
  const record = Buffer.alloc(COMMIT_BYTES);
  MARK.copy(record);
  record.writeBigUInt64BE(BigInt(size), MARK.length);
  record.set(root, MARK.length + 8);
  return record;
}

/** Reads the commit record at an offset; undefined when there is none or only part of one. */
export function decodeCommit(
  bytes: Buffer,
  offset: number,
): { size: number; root: Buffer } | undefined {
  if (offset < 0 || offset + COMMIT_BYTES > bytes.length) return undefined;
  if (!bytes.subarray(offset, offset + MARK.length).equals(MARK)) return undefined;
  const size = Number(bytes.readBigUInt64BE(offset + MARK.length));
  const root = bytes.subarray(offset + MARK.length + 8, offset + COMMIT_BYTES);
  return { size, root };
}

/**
 * Whether a commit record lies before the last byte range, whatever it says: what is torn is one flush and has
 * its only one at the end, and no entry holds a zero. One whose size was damaged is one all the same.
 */
export function hasCommitBeforeEnd(bytes: Buffer): boolean {
  const at = bytes.indexOf(MARK);
  return at !== -1 && at + COMMIT_BYTES < bytes.length;
}
