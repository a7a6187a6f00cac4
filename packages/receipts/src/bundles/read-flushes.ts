import { COMMIT_BYTES, commitLength, decodeCommit } from "./commit-record.js";
import type { Commit } from "./commit-record.js";
import type { Segments } from "./segments.js";

/** The result of one flush: entries, and the commit record after them. */
export type Flush = {
  readonly entries: readonly { readonly position: number; readonly bytes: Uint8Array }[];
  /** The decoded commit record; the caller checks it. */
  readonly commit: Commit;
  /** Position after the commit record. */
  readonly end: number;
};

const CHUNK = 4 << 20;

/** Reads flush by flush from a position on; ends before the first incomplete flush. */
export async function* readFlushes(segments: Segments, position: number): AsyncGenerator<Flush> {
  let buffer: Buffer = Buffer.alloc(0);
  let bufferStart = position;
  let at = position;
  let entries: { position: number; bytes: Uint8Array }[] = [];
  const fill = async (need: number): Promise<boolean> => {
    if (at + need <= bufferStart + buffer.length) return true;
    buffer = await segments.read(at, Math.max(CHUNK, need));
    bufferStart = at;
    return buffer.length >= need;
  };
  while (await fill(2)) {
    const length = buffer.readUInt16BE(at - bufferStart);
    if (length > 0) {
      if (!(await fill(2 + length))) return;
      const start = at - bufferStart + 2;
      entries.push({ position: at, bytes: buffer.subarray(start, start + length) });
      at += 2 + length;
      continue;
    }
    const isThere = await fill(COMMIT_BYTES);
    const long = isThere ? commitLength(buffer, at - bufferStart) : undefined;
    if (long === undefined || !(await fill(long))) return;
    const commit = decodeCommit(buffer, at - bufferStart);
    if (commit === undefined) return;
    at += commit.length;
    yield { entries, commit, end: at };
    entries = [];
  }
}
