import { join } from "node:path";
import type { Frontier } from "../merkle/tree.js";
import { closedStore, outOfRange, readFailure, writeFailure } from "../store/failure.js";
import type { AppendBatch, Durability } from "../store/store.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { TileName } from "../tiles/path.js";
import { COMMIT_BYTES, encodeCommit } from "./commit-record.js";
import { DerivedFiles } from "./derived-files.js";
import { nodeDisk } from "./disk.js";
import type { Disk } from "./disk.js";
import { lockDirectory } from "./lock.js";
import { readBundle, readEntryBytes } from "./read-entries.js";
import { isCommitted, readCommitted, recoverTail } from "./recover.js";
import type { Committed } from "./recover.js";
import { decodeSealed, encodeSealed } from "./sealed.js";
import { Segments } from "./segments.js";

/** Options of {@link openBundles}. */
export type BundleOptions = {
  readonly directory: string;
  /** Bytes after which a new segment file is begun; 256 MiB when left out. */
  readonly segmentBytes?: number;
  /** Reads only, as of the last checkpoint, beside a process that writes. */
  readonly readOnly?: boolean;
  /** Forgets what was derived and reads the whole log again. */
  readonly rebuild?: boolean;
  /** The file system; for tests that break it. */
  readonly disk?: Disk;
};

/** The append-only files of a log: the entries themselves, their hashes, the checkpoint. */
export type BundleFiles = {
  append(build: (head: Frontier) => AppendBatch, durability: Durability): Promise<void>;
  head(): Promise<Frontier>;
  /** Entries that are acknowledged, and the position behind them, for readers that follow the segments. */
  progress(): { readonly size: number; readonly position: number };
  readTile(tile: TileName): Promise<Uint8Array>;
  readEntries(start: number, end: number): Promise<Uint8Array[]>;
  /** Entries that were committed after what `head` tells: those a reader meets beside or after a writer. */
  readTail(): AsyncIterable<Uint8Array>;
  /** The bytes of single entries by position, in the order asked. */
  readAt(places: readonly { position: number; length: number }[]): Promise<Uint8Array[]>;
  readCheckpoint(): Promise<string | undefined>;
  writeCheckpoint(text: string, size: number): Promise<void>;
  close(): Promise<void>;
};

const EMPTY: Committed = { frontier: { size: 0, hashes: [] }, position: 0 };
const SEGMENT_BYTES = 256 << 20;
// How long a relaxed append may stay in the operating system's memory only.
const RELAXED_SYNC_MS = 200;

/** Opens the files of a log, and settles how far they go. */
export async function openBundles(options: BundleOptions): Promise<BundleFiles> {
  const disk = options.disk ?? nodeDisk;
  const { directory } = options;
  const readOnly = options.readOnly === true;
  const segmentDirectory = join(directory, "segments");
  const hashDirectory = join(directory, "hashes");
  const checkpointFile = join(directory, "checkpoint");
  const sealedFile = join(directory, "sealed");
  if (!readOnly) {
    await disk.makeDirectory(segmentDirectory);
    await disk.makeDirectory(hashDirectory);
  }
  const unlock = readOnly ? undefined : await lockDirectory(join(directory, "lock"));
  const segments = await Segments.open(disk, segmentDirectory, readOnly ? "read" : "write").catch(
    async (error: unknown) => {
      await unlock?.();
      throw readFailure("open", error);
    },
  );
  const derived = new DerivedFiles(disk, hashDirectory, readOnly ? "read" : "create");

  const readSealed = async (): Promise<Committed | undefined> => {
    const sealed = decodeSealed(await disk.readText(sealedFile));
    if (sealed === undefined) return undefined;
    // Looked at only now: the files that `sealed` speaks of were there before it.
    if (readOnly) await segments.refresh("read");
    return (await isCommitted(segments, sealed)) ? sealed : undefined;
  };
  const start = async (): Promise<Committed> => {
    const known = (await readSealed()) ?? EMPTY;
    if (readOnly) return known;
    // Also where what it speaks of is damaged: that was no torn write.
    const sealed = decodeSealed(await disk.readText(sealedFile))?.position ?? 0;
    const from = options.rebuild === true ? EMPTY : known;
    const settled = await recoverTail(segments, derived, from, sealed);
    // What was read may so far be in the operating system's memory only.
    if (settled.position > 0) await segments.sync(settled.position - 1);
    return settled;
  };
  let state: Committed;
  try {
    state = await start();
  } catch (error) {
    await segments.close();
    await derived.close();
    await unlock?.();
    throw readFailure("open", error);
  }
  let closed = false;
  let checkpointSize = -1;
  // A write failed: the files may hold bytes that nobody acknowledged.
  let inDoubt = false;
  let unsynced = false;
  let syncTimer: NodeJS.Timeout | undefined;

  // A reader goes on to what the writing process has sealed since.
  const refresh = async (): Promise<void> => {
    const sealed = readOnly && !closed ? await readSealed() : undefined;
    if (sealed !== undefined && sealed.frontier.size > state.frontier.size) state = sealed;
  };
  const settle = async (): Promise<void> => {
    if (!inDoubt) return;
    await segments.cut(state.position);
    inDoubt = false;
  };
  const syncLater = (): void => {
    unsynced = true;
    syncTimer ??= setTimeout(() => {
      syncTimer = undefined;
      segments.sync(state.position - 1).then(
        () => {
          unsynced = syncTimer !== undefined;
        },
        // Stays unsynced: the next checkpoint reports it.
        () => undefined,
      );
    }, RELAXED_SYNC_MS).unref();
  };

  // One at a time: two that replace the same file together would take each other's draft away.
  let keeping: Promise<unknown> = Promise.resolve();
  const keepCheckpoint = async (text: string, size: number): Promise<void> => {
    if (closed || readOnly) throw closedStore();
    if (size < checkpointSize) return;
    const sealing = state;
    try {
      if (unsynced && sealing.position > 0) await segments.sync(sealing.position - 1);
      if (sealing.frontier.size > 0) await derived.sync();
      await disk.replace(sealedFile, encodeSealed(sealing));
      await disk.replace(checkpointFile, text);
      checkpointSize = size;
    } catch (error) {
      throw writeFailure("keep a checkpoint", error);
    }
  };

  return {
    async append(build, durability) {
      if (closed || readOnly) throw closedStore();
      try {
        await settle();
      } catch (error) {
        throw writeFailure("cut off a failed write", error);
      }
      const { frontier: head, position } = state;
      const batch = build(head);
      const positions = batch.bundleStarts.map((start) => position + start);
      const commit = encodeCommit(batch.frontier.size, batch.root());
      inDoubt = true;
      try {
        const limit = options.segmentBytes ?? SEGMENT_BYTES;
        if (position - segments.startOf(position) >= limit) {
          // Later flushes are those of the new file.
          if (unsynced) await segments.sync(position - 1);
          await segments.trim(position);
          await segments.roll(position);
        }
        const isStrict = durability === "strict";
        await segments.write([...batch.records, commit], position, isStrict);
        // What is behind relaxed appends is read only if they are there.
        if (isStrict && unsynced) await segments.sync(position);
        await derived.add(head.size, batch.leaves, batch.above, positions);
      } catch (error) {
        throw writeFailure("append", error);
      }
      inDoubt = false;
      const bytes = batch.records.reduce((sum, piece) => sum + piece.length, COMMIT_BYTES);
      state = { frontier: batch.frontier, position: position + bytes };
      if (durability === "relaxed") syncLater();
    },
    async head() {
      await refresh();
      return state.frontier;
    },
    progress: () => ({ size: state.frontier.size, position: state.position }),
    async readTile(tile) {
      const size = state.frontier.size;
      if (tile.level === "entries") {
        const first = tile.index * TILE_WIDTH;
        if (first + tile.width > size) throw outOfRange(size);
        return readBundle(segments, derived, state, first, first + tile.width);
      }
      const bytes = await derived.readTile(tile.level, tile.index, tile.width).catch((error) => {
        throw readFailure("read a tile", error);
      });
      if (bytes.length !== tile.width * 32) throw outOfRange(size);
      return bytes;
    },
    async readEntries(from, end) {
      return readEntryBytes(segments, derived, state, from, end);
    },
    readTail: () => readCommitted(segments, state),
    async readAt(places) {
      return Promise.all(places.map(({ position, length }) => segments.read(position + 2, length)));
    },
    async readCheckpoint() {
      const text = await disk.readText(checkpointFile);
      // Sealed before it was signed for: afterwards everything it commits to can be read here.
      await refresh();
      return text;
    },
    writeCheckpoint(text, size) {
      const kept = keeping.then(() => keepCheckpoint(text, size));
      keeping = kept.catch(() => undefined);
      return kept;
    },
    async close() {
      if (closed) return;
      closed = true;
      clearTimeout(syncTimer);
      await keeping;
      try {
        if (unsynced && state.position > 0) await segments.sync(state.position - 1);
        if (!readOnly) await segments.trim(state.position);
        // Last, since it can be made again: its failure must not keep the truth from the medium.
        if (!readOnly) await derived.flush();
      } finally {
        await segments.close();
        await derived.close();
        await unlock?.();
      }
    },
  };
}
