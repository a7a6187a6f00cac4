import { HASH_BYTES } from "../merkle/hash.js";

/**
 * A segment is entries in bundle encoding (16-bit big-endian length, bytes) and, after the entries of
 * each flush, one commit record: length 0 (no entry is empty), `C`, a version, tree size as 64-bit
 * big-endian, root hash; with version 2 the seal of that tree behind it. Entries count only when a commit record
 * with the right root follows them.
 */
export const COMMIT_BYTES = 2 + 2 + 8 + HASH_BYTES;

const SEAL_BYTES = 32;

/** The length of a commit record with a seal, and of the longest. */
export const SEALED_COMMIT_BYTES = COMMIT_BYTES + SEAL_BYTES;

const MARK_BYTES = 4;
const MARK = Buffer.from([0, 0, 0x43, 1]);
const SEALED_MARK = Buffer.from([0, 0, 0x43, 2]);

/** What a commit record says. */
export type Commit = {
  readonly size: number;
  readonly root: Buffer;
  readonly seal: Buffer | undefined;
  /** How many bytes it takes. */
  readonly length: number;
};

/** The commit record of a tree. */
export function encodeCommit(size: number, root: Uint8Array, seal?: Uint8Array): Buffer {
  const record = Buffer.alloc(seal === undefined ? COMMIT_BYTES : SEALED_COMMIT_BYTES);
  (seal === undefined ? MARK : SEALED_MARK).copy(record);
  record.writeBigUInt64BE(BigInt(size), MARK_BYTES);
  record.set(root, MARK_BYTES + 8);
  if (seal !== undefined) record.set(seal, COMMIT_BYTES);
  return record;
}

/** The length of the commit record at an offset, as its mark tells; undefined when none begins there. */
export function commitLength(bytes: Buffer, offset: number): number | undefined {
  const isMark = (mark: Buffer): boolean =>
    bytes.compare(mark, 0, MARK_BYTES, offset, offset + MARK_BYTES) === 0;
  if (offset < 0 || offset + MARK_BYTES > bytes.length) return undefined;
  if (isMark(MARK)) return COMMIT_BYTES;
  return isMark(SEALED_MARK) ? SEALED_COMMIT_BYTES : undefined;
}

/** Reads the commit record at an offset; undefined when there is none or only part of one. */
export function decodeCommit(bytes: Buffer, offset: number): Commit | undefined {
  const length = commitLength(bytes, offset);
  if (length === undefined || offset + length > bytes.length) return undefined;
  const size = Number(bytes.readBigUInt64BE(offset + MARK_BYTES));
  const root = bytes.subarray(offset + MARK_BYTES + 8, offset + COMMIT_BYTES);
  const seal =
    length === COMMIT_BYTES ? undefined : bytes.subarray(offset + COMMIT_BYTES, offset + length);
  return { size, root, seal, length };
}

/** Lengths that a commit record can have, in the order in which to look for one that ends somewhere. */
export const COMMIT_LENGTHS: readonly number[] = [SEALED_COMMIT_BYTES, COMMIT_BYTES];

/**
 * Whether a commit record lies before the last byte range, whatever it says: what is torn is one flush and has
 * its only one at the end, and no entry holds a zero. One whose size was damaged is one all the same.
 */
export function hasCommitBeforeEnd(bytes: Buffer): boolean {
  return [MARK, SEALED_MARK].some((mark) => {
    const at = bytes.indexOf(mark);
    return at !== -1 && at + (commitLength(bytes, at) ?? 0) < bytes.length;
  });
}
