import { HASH_BYTES, leafHash, nodeHash } from "../merkle/hash.js";
import { frontierRoot } from "../merkle/tree.js";
import type { Frontier } from "../merkle/tree.js";
import { corrupt } from "../store/failure.js";
import type { StoreHead, TileHash, Uncommitted } from "../store/store.js";
import type { TileReader } from "../tiles/nodes.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { resumeTree } from "../tiles/resume.js";
import { COMMIT_LENGTHS, decodeCommit, hasCommitBeforeEnd } from "./commit-record.js";
import type { DerivedFiles } from "./derived-files.js";
import { readFlushes } from "./read-flushes.js";
import type { Flush } from "./read-flushes.js";
import type { Segments } from "./segments.js";

/** A state of the log that a commit record confirms. */
export type Committed = { readonly frontier: StoreHead; readonly position: number };

const TILE_HEIGHT = 8;
/** More than the number of zeros that a writer preallocates. */
const MAX_UNCOMMITTED_BYTES = 2 << 20;

// A growing frontier and the derived data to write for it.
type Tentative = {
  size: number;
  hashes: Uint8Array[];
  leaves: Uint8Array[];
  above: TileHash[];
  positions: number[];
};

function tentative(from: Frontier): Tentative {
  return { size: from.size, hashes: [...from.hashes], leaves: [], above: [], positions: [] };
}

function addLeaf(state: Tentative, leaf: Uint8Array, position: number): void {
  if (state.size % TILE_WIDTH === 0) state.positions.push(position);
  state.leaves.push(leaf);
  let carry = leaf;
  let height = 0;
  for (let rest = state.size; rest % 2 === 1; rest = (rest - 1) / 2) {
    carry = nodeHash(state.hashes.pop() as Uint8Array, carry);
    height += 1;
    // A subtree of 256^level leaves is one hash of that tile level.
    if (height % TILE_HEIGHT === 0) {
      const index = (state.size + 1) / 2 ** height - 1;
      state.above.push({ level: height / TILE_HEIGHT, index, hash: carry });
    }
  }
  state.hashes.push(carry);
  state.size += 1;
}

/** The tree after a flush, if it matches the commit record of the flush. */
function grown(from: Frontier, flush: Flush): Tentative | undefined {
  const state = tentative(from);
  for (const { bytes, position } of flush.entries) addLeaf(state, leafHash(bytes), position);
  const { size, root } = flush.commit;
  return size === state.size && root.equals(frontierRoot(state)) ? state : undefined;
}

/** Committed flushes after a known state, without any recovery: for readers. */
async function* readFlushed(segments: Segments, from: Committed): AsyncGenerator<Flush> {
  let { frontier } = from;
  for await (const flush of readFlushes(segments, from.position)) {
    const state = grown(frontier, flush);
    if (state === undefined) return;
    yield flush;
    frontier = { size: state.size, hashes: state.hashes };
  }
}

/** The entries of those flushes. */
export async function* readCommitted(
  segments: Segments,
  from: Committed,
): AsyncGenerator<Uint8Array> {
  for await (const { entries } of readFlushed(segments, from)) {
    for (const { bytes } of entries) yield bytes;
  }
}

/**
 * Bytes after the last committed flush, up to {@link MAX_UNCOMMITTED_BYTES}; undefined when all are
 * zeros.
 */
export async function readUncommitted(
  segments: Segments,
  from: Committed,
): Promise<Uncommitted | undefined> {
  let { position } = from;
  for await (const { end } of readFlushed(segments, from)) position = end;
  const rest = await segments.read(position, MAX_UNCOMMITTED_BYTES);
  const bytes = withoutZeros(rest);
  // A writer preallocates fewer zeros than this: a longer run of zeros counts as uncommitted bytes.
  const isLayout = rest.length < MAX_UNCOMMITTED_BYTES;
  return bytes.length === 0 && isLayout ? undefined : { position, bytes };
}

/**
 * Reads the segments from a committed state up to the last commit record with the right root, and
 * writes the derived files for the entries it read. Bytes after the last good commit are a torn
 * write and are truncated. If a commit follows the damage, or the damage lies before `sealed`
 * (everything before it was synced once), the entries were acknowledged, and nothing is changed.
 */
export async function recoverTail(
  segments: Segments,
  derived: DerivedFiles,
  from: Committed,
  sealed = from.position,
  onTorn?: (place: { position: number; seq: number }, rest: Buffer) => Promise<void>,
): Promise<Committed> {
  let good = from;
  for await (const flush of readFlushes(segments, from.position)) {
    const state = grown(good.frontier, flush);
    if (state === undefined) break;
    const first = good.frontier.size;
    if (state.leaves.length > 0) {
      await derived.add(first, [Buffer.concat(state.leaves)], state.above, state.positions);
    }
    const { size, hashes } = state;
    good = { frontier: { size, hashes, seal: flush.commit.seal }, position: flush.end };
  }
  await derived.flush();
  const end = await segments.end();
  if (end > good.position) {
    const { size } = good.frontier;
    const laterFile = segments.startOf(end - 1) > segments.startOf(good.position);
    if (laterFile) throw corrupt(size, "bytes changed before a later commit");
    const rest = withoutZeros(await segments.read(good.position, end - good.position));
    if (hasCommitBeforeEnd(rest)) throw corrupt(size, "bytes changed before a later commit");
    if (rest.length > 0 && good.position < sealed) {
      throw corrupt(size, "bytes changed that were flushed once");
    }
    if (rest.length > 0) await onTorn?.({ position: good.position, seq: size }, rest);
    await segments.cut(good.position);
  }
  return good;
}

/** The bytes up to the last one that was written; the preallocated zeros after it are dropped. */
function withoutZeros(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
}

/**
 * The state at the start of a segment file, from the commit record that ends the file before it and
 * from the tiles.
 */
export async function findStart(
  segments: Segments,
  position: number,
  readTile: TileReader,
): Promise<Committed> {
  for (const length of COMMIT_LENGTHS) {
    const commit = decodeCommit(await segments.read(position - length, length), 0);
    if (commit?.length !== length) continue;
    const { size, root } = commit;
    const { frontier } = await resumeTree(size, readTile);
    if (root.equals(frontierRoot(frontier))) return { frontier, position };
  }
  throw corrupt(0, "a segment file does not end with a commit");
}

/**
 * A stored state with the seal of the matching commit record that ends there; undefined without
 * one.
 */
export async function findCommitted(
  segments: Segments,
  state: Committed,
): Promise<Committed | undefined> {
  const { frontier, position } = state;
  if (frontier.size === 0) return position === 0 ? state : undefined;
  if (frontier.hashes.some((hash) => hash.length !== HASH_BYTES)) return undefined;
  for (const length of COMMIT_LENGTHS) {
    const bytes = await segments.read(Math.max(0, position - length), length);
    const commit = decodeCommit(bytes, 0);
    if (commit?.length !== length) continue;
    const isSame = commit.size === frontier.size && commit.root.equals(frontierRoot(frontier));
    return isSame ? { frontier: { ...frontier, seal: commit.seal }, position } : undefined;
  }
  return undefined;
}
