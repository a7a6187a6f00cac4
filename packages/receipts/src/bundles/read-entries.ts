import { MAX_ENTRY_BYTES } from "../entry/entry.js";
import { corrupt, outOfRange } from "../store/failure.js";
import { MAX_READ_ENTRIES } from "../store/store.js";
import { encodeBundle } from "../tiles/bundle.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { commitLength, SEALED_COMMIT_BYTES } from "./commit-record.js";
import type { DerivedFiles } from "./derived-files.js";
import type { Committed } from "./recover.js";
import type { Segments } from "./segments.js";

/**
 * More than the largest entries, each with its own commit record, plus the bundles at both ends.
 */
const MAX_READ_BYTES =
  (MAX_READ_ENTRIES + 2 * TILE_WIDTH) * (2 + MAX_ENTRY_BYTES + SEALED_COMMIT_BYTES);

/** Entries `start` up to `end`, as views of the bytes read; commit records between them are skipped. */
export async function readEntryBytes(
  segments: Segments,
  derived: DerivedFiles,
  state: Committed,
  start: number,
  end: number,
): Promise<Uint8Array[]> {
  const { size } = state.frontier;
  if (start < 0 || end > size || start > end) throw outOfRange(size);
  if (end - start > MAX_READ_ENTRIES) throw new TypeError("too many entries asked for at once");
  if (start === end) return [];
  const firstBundle = Math.floor(start / TILE_WIDTH);
  const afterLast = Math.ceil(end / TILE_WIDTH);
  const positions = await derived.readPositions(firstBundle, afterLast - firstBundle + 1);
  const from = positions[0];
  if (from === undefined) throw corrupt(start, "position of a bundle is missing");
  // The bundle after the last one may not exist yet: then the log's end is its end.
  const begun = afterLast * TILE_WIDTH < size;
  const to = (begun ? positions[afterLast - firstBundle] : undefined) ?? state.position;
  // Positions are derived: a damaged one must not allocate memory that no log needs.
  if (from > to || to - from > MAX_READ_BYTES)
    throw corrupt(start, "position of a bundle is wrong");
  const bytes = await segments.read(from, to - from);
  const entries: Uint8Array[] = [];
  let seq = firstBundle * TILE_WIDTH;
  for (let at = 0; seq < end;) {
    if (at + 2 > bytes.length) throw corrupt(seq, "an entry is missing");
    const length = bytes.readUInt16BE(at);
    if (length === 0) {
      const commit = commitLength(bytes, at);
      if (commit === undefined) throw corrupt(seq, "no commit where one must be");
      at += commit;
      continue;
    }
    if (at + 2 + length > bytes.length) throw corrupt(seq, "an entry is cut short");
    if (seq >= start) entries.push(bytes.subarray(at + 2, at + 2 + length));
    at += 2 + length;
    seq += 1;
  }
  return entries;
}

/** The same, encoded as one entry bundle. */
export async function readBundle(
  segments: Segments,
  derived: DerivedFiles,
  state: Committed,
  start: number,
  end: number,
): Promise<Uint8Array> {
  return encodeBundle(await readEntryBytes(segments, derived, state, start, end));
}
