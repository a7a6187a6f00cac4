import { HASH_BYTES } from "../merkle/hash.js";

/**
 * A segment holds entries in bundle encoding (16-bit big-endian length, bytes). One commit record
 * follows the entries of each flush: length 0 (no entry is empty), `C`, a version, the tree size as
 * 64-bit big-endian and the root hash. In version 2 the seal of that tree follows. An entry counts
 * only when a commit record with the right root follows it.
 */
export const COMMIT_BYTES = 2 + 2 + 8 + HASH_BYTES;

const SEAL_BYTES = 32;

/** The length of a commit record with a seal: the longest one. */
export const SEALED_COMMIT_BYTES = COMMIT_BYTES + SEAL_BYTES;

const MARK_BYTES = 4;
const MARK = Buffer.from([0, 0, 0x43, 1]);
const SEALED_MARK = Buffer.from([0, 0, 0x43, 2]);

/** A decoded commit record. */
export type Commit = {
  readonly size: number;
  readonly root: Buffer;
  readonly seal: Buffer | undefined;
  /** The length of the record in bytes. */
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

/**
 * The length of the commit record at an offset, according to its mark; undefined when none starts
 * there.
 */
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

/**
 * The possible lengths of a commit record, longest first: the order to look for one that ends at a
 * position.
 */
export const COMMIT_LENGTHS: readonly number[] = [SEALED_COMMIT_BYTES, COMMIT_BYTES];

/**
 * Whether a commit record lies before the end, whatever its content. A torn write is one flush,
 * which has its only commit record at the end, and no entry holds a zero byte. A record with a
 * damaged size counts too.
 */
export function hasCommitBeforeEnd(bytes: Buffer): boolean {
  return [MARK, SEALED_MARK].some((mark) => {
    const at = bytes.indexOf(mark);
    return at !== -1 && at + (commitLength(bytes, at) ?? 0) < bytes.length;
  });
}
