import { join } from "node:path";
import {
  closedStore,
  corrupt,
  outOfRange,
  readFailure,
  removedEntries,
  writeFailure,
} from "../store/failure.js";
import type {
  AppendBatch,
  ChangeText,
  Durability,
  StoreHead,
  Uncommitted,
} from "../store/store.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { TileName } from "../tiles/path.js";
import { encodeCommit } from "./commit-record.js";
import type { DerivedFiles } from "./derived-files.js";
import type { Disk } from "./disk.js";
import { readBundle, readEntryBytes } from "./read-entries.js";
import { findCommitted, findStart, readCommitted, readUncommitted } from "./recover.js";
import type { Committed } from "./recover.js";
import { RelaxedFlush } from "./relaxed-flush.js";
import { readRemoved, readSealed, writeRemoved, writeSealed } from "./sealed.js";
import type { Removed } from "./sealed.js";
import type { Segments } from "./segments.js";

/** The append-only files of a log: the entries themselves, their hashes, the checkpoint. */
export type BundleFiles = {
  append(build: (head: StoreHead) => AppendBatch, durability: Durability): Promise<void>;
  head(): Promise<StoreHead>;
  /**
   * Number of acknowledged entries and the position after them, for readers that follow the
   * segments.
   */
  progress(): { readonly size: number; readonly position: number };
  readTile(tile: TileName): Promise<Uint8Array>;
  readEntries(start: number, end: number): Promise<Uint8Array[]>;
  /** Entries committed after `head`: a reader that runs beside or after a writer sees them. */
  readTail(): AsyncIterable<Uint8Array>;
  /** Bytes after the last commit, without the preallocated zeros. */
  readUncommitted(): Promise<Uncommitted | undefined>;
  /** The bytes of single entries by position, in the order asked. */
  readAt(places: readonly { position: number; length: number }[]): Promise<Uint8Array[]>;
  first(): Promise<number>;
  planRemoval(limit: number, rotate: number): Promise<number>;
  /** Makes the removal of the entries before a planned number durable; their files still exist. */
  beginRemoval(first: number): Promise<void>;
  /** Deletes the files of removed entries. */
  finishRemoval(): Promise<void>;
  readCheckpoint(): Promise<string | undefined>;
  writeCheckpoint(text: string, size: number): Promise<void>;
  readAttestations(): Promise<string | undefined>;
  updateAttestations(change: ChangeText): Promise<void>;
  readKeyHistory(): Promise<string | undefined>;
  writeKeyHistory(text: string): Promise<boolean>;
  close(): Promise<void>;
};

/** The open parts of a log's files, recovered to the last commit. */
export type OpenFiles = {
  readonly disk: Disk;
  readonly directory: string;
  readonly segmentBytes: number;
  readonly readOnly: boolean;
  readonly segments: Segments;
  readonly derived: DerivedFiles;
  /** The last committed state. */
  readonly committed: Committed;
  /** The state before which entries were removed. */
  readonly removed: Removed | undefined;
  unlock(): Promise<void>;
};

/** Makes the files of a log from their open parts. */
export function createBundleFiles(files: OpenFiles): BundleFiles {
  return new AppendOnlyFiles(files);
}

class AppendOnlyFiles implements BundleFiles {
  readonly #files: OpenFiles;
  readonly #checkpointFile: string;
  readonly #historyFile: string;
  readonly #attestationsFile: string;
  readonly #relaxed: RelaxedFlush;
  #state: Committed;
  #closed = false;
  #checkpointSize = -1;
  #removed: Removed | undefined;
  /** The next append starts a new file. */
  #isRotating = false;
  /** A write failed: the files may hold bytes that were never acknowledged. */
  #isUncertain = false;
  /**
   * Serializes file replacements: two at the same time would remove each other's temporary file.
   */
  #replacing: Promise<unknown> = Promise.resolve();

  constructor(files: OpenFiles) {
    this.#files = files;
    this.#state = files.committed;
    this.#removed = files.removed;
    this.#checkpointFile = join(files.directory, "checkpoint");
    this.#historyFile = join(files.directory, "keys.jsonl");
    this.#attestationsFile = join(files.directory, "attestations.json");
    this.#relaxed = new RelaxedFlush(() => files.segments.sync(this.#state.position - 1));
  }

  async append(build: (head: StoreHead) => AppendBatch, durability: Durability): Promise<void> {
    this.#assertWritable();
    await this.#truncateFailedWrite();
    const { segments, derived } = this.#files;
    const { frontier: head, position } = this.#state;
    const batch = build(head);
    const commit = encodeCommit(batch.frontier.size, batch.root(), batch.frontier.seal);
    const bundles = batch.bundleStarts.map((start) => position + start);
    const isStrict = durability === "strict";
    this.#isUncertain = true;
    try {
      await this.#roll(position);
      await segments.write([...batch.records, commit], position, isStrict);
      // Recovery reads this append only if the relaxed appends before it are on disk.
      if (isStrict && this.#relaxed.isPending) await segments.sync(position);
      await derived.add(head.size, batch.leaves, batch.above, bundles);
    } catch (error) {
      throw writeFailure("append", error);
    }
    this.#isUncertain = false;
    const bytes = batch.records.reduce((sum, piece) => sum + piece.length, commit.length);
    this.#state = { frontier: batch.frontier, position: position + bytes };
    if (durability === "relaxed") this.#relaxed.later();
  }

  async head(): Promise<StoreHead> {
    await this.#refresh();
    return this.#state.frontier;
  }

  progress(): { size: number; position: number } {
    return { size: this.#state.frontier.size, position: this.#state.position };
  }

  async readTile({ level, index, width }: TileName): Promise<Uint8Array> {
    const { segments, derived } = this.#files;
    const { size } = this.#state.frontier;
    if (level === "entries") {
      const first = index * TILE_WIDTH;
      if (first + width > size) throw outOfRange(size);
      this.#assertKept(first);
      return readBundle(segments, derived, this.#state, first, first + width);
    }
    const bytes = await derived.readTile(level, index, width).catch((error) => {
      throw readFailure("read a tile", error);
    });
    if (bytes.length !== width * 32) throw outOfRange(size);
    return bytes;
  }

  async readEntries(start: number, end: number): Promise<Uint8Array[]> {
    const { segments, derived } = this.#files;
    if (start < end) this.#assertKept(start);
    return readEntryBytes(segments, derived, this.#state, start, end);
  }

  readTail(): AsyncIterable<Uint8Array> {
    return readCommitted(this.#files.segments, this.#state);
  }

  readUncommitted(): Promise<Uncommitted | undefined> {
    return readUncommitted(this.#files.segments, this.#state);
  }

  async readAt(places: readonly { position: number; length: number }[]): Promise<Uint8Array[]> {
    const { segments } = this.#files;
    return Promise.all(places.map(({ position, length }) => segments.read(position + 2, length)));
  }

  async first(): Promise<number> {
    await this.#refresh();
    return this.#removed?.first ?? 0;
  }

  async planRemoval(limit: number, rotate: number): Promise<number> {
    this.#assertWritable();
    const starts = this.#files.segments.laterStarts();
    const current = starts.at(-1) ?? 0;
    this.#isRotating = ((await this.#firstBundleFrom(current)) ?? rotate) < rotate;
    let planned = this.#removed?.first ?? 0;
    for (const start of starts) {
      const first = await this.#firstBundleFrom(start);
      // A checkpoint with later entries: its commit record is in a file that stays.
      if (first === undefined || first > limit || first >= this.#checkpointSize) break;
      planned = Math.max(planned, first);
    }
    return planned;
  }

  async beginRemoval(first: number): Promise<void> {
    this.#assertWritable();
    const { disk, directory, segments } = this.#files;
    try {
      let position = 0;
      for (const start of segments.laterStarts()) {
        if (((await this.#firstBundleFrom(start)) ?? first + 1) <= first) position = start;
      }
      if (position === 0) return;
      const state = await findStart(segments, position, (tile) => this.readTile(tile));
      const removed = { ...state, first };
      await writeRemoved(disk, directory, removed);
      this.#removed = removed;
    } catch (error) {
      throw writeFailure("remove entries", error);
    }
  }

  async finishRemoval(): Promise<void> {
    try {
      await this.#files.segments.removeBefore(this.#removed?.position ?? 0);
    } catch (error) {
      throw writeFailure("remove entries", error);
    }
  }

  async readCheckpoint(): Promise<string | undefined> {
    const text = await this.#files.disk.readText(this.#checkpointFile);
    // The writer seals before it signs, so after this refresh every entry of the checkpoint is
    // readable.
    await this.#refresh();
    return text;
  }

  writeCheckpoint(text: string, size: number): Promise<void> {
    const stored = this.#replacing.then(() => this.#storeCheckpoint(text, size));
    this.#replacing = stored.catch(() => undefined);
    return stored;
  }

  readAttestations(): Promise<string | undefined> {
    return this.#files.disk.readText(this.#attestationsFile);
  }

  updateAttestations(change: ChangeText): Promise<void> {
    const stored = this.#replacing.then(async () => {
      this.#assertWritable();
      const text = await change(await this.readAttestations());
      if (text === undefined) return;
      await this.#files.disk.replace(this.#attestationsFile, text).catch((error: unknown) => {
        throw writeFailure("keep attestations", error);
      });
    });
    this.#replacing = stored.catch(() => undefined);
    return stored;
  }

  readKeyHistory(): Promise<string | undefined> {
    return this.#files.disk.readText(this.#historyFile);
  }

  async writeKeyHistory(text: string): Promise<boolean> {
    this.#assertWritable();
    try {
      // No other process writes between this read and the write: the directory is locked.
      if (!text.startsWith((await this.readKeyHistory()) ?? "")) return false;
      await this.#files.disk.replace(this.#historyFile, text);
      return true;
    } catch (error) {
      throw writeFailure("keep the key history", error);
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#relaxed.stop();
    await this.#replacing;
    const { segments, derived, readOnly, unlock } = this.#files;
    const { position } = this.#state;
    try {
      if (this.#relaxed.isPending && position > 0) await segments.sync(position - 1);
      if (!readOnly) await segments.trim(position);
      // Last, because derived files can be rebuilt: a failure here must not keep entries from being
      // synced.
      if (!readOnly) await derived.flush();
    } finally {
      await segments.close();
      await derived.close();
      await unlock();
    }
  }

  #assertWritable(): void {
    if (this.#closed || this.#files.readOnly) throw closedStore();
  }

  #assertKept(seq: number): void {
    const first = this.#removed?.first ?? 0;
    if (seq < first) throw removedEntries(first);
  }

  /** The first entry of the first bundle that starts at or after a position; undefined without one. */
  async #firstBundleFrom(position: number): Promise<number | undefined> {
    const { derived } = this.#files;
    const bundles = Math.ceil(this.#state.frontier.size / TILE_WIDTH);
    let low = 0;
    let high = bundles;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [start] = await derived.readPositions(middle, 1);
      if (start === undefined)
        throw corrupt(middle * TILE_WIDTH, "position of a bundle is missing");
      if (start < position) low = middle + 1;
      else high = middle;
    }
    return low < bundles ? low * TILE_WIDTH : undefined;
  }

  /** Truncates the bytes that a failed write may have left. */
  async #truncateFailedWrite(): Promise<void> {
    if (!this.#isUncertain) return;
    try {
      await this.#files.segments.cut(this.#state.position);
    } catch (error) {
      throw writeFailure("cut off a failed write", error);
    }
    this.#isUncertain = false;
  }

  /** Starts a new segment when the last one is full. */
  async #roll(position: number): Promise<void> {
    const { segments, segmentBytes } = this.#files;
    const length = position - segments.startOf(position);
    if (length < (this.#isRotating ? 1 : segmentBytes)) return;
    // Later syncs go to the new file only.
    if (this.#relaxed.isPending) await segments.sync(position - 1);
    await segments.trim(position);
    await segments.roll(position);
    this.#isRotating = false;
  }

  /** A reader advances to the state that the writing process has sealed since. */
  async #refresh(): Promise<void> {
    const { disk, directory, segments, readOnly } = this.#files;
    if (!readOnly || this.#closed) return;
    this.#removed = await readRemoved(disk, directory);
    const sealed = await readSealed(disk, directory);
    if (sealed === undefined || sealed.frontier.size <= this.#state.frontier.size) return;
    // Read only now: the files that `sealed` refers to exist before it does.
    await segments.refresh("read");
    this.#state = (await findCommitted(segments, sealed)) ?? this.#state;
  }

  async #storeCheckpoint(text: string, size: number): Promise<void> {
    this.#assertWritable();
    if (size < this.#checkpointSize) return;
    const { disk, directory, segments, derived } = this.#files;
    const sealing = this.#state;
    try {
      if (this.#relaxed.isPending && sealing.position > 0) {
        await segments.sync(sealing.position - 1);
      }
      if (sealing.frontier.size > 0) await derived.sync();
      await writeSealed(disk, directory, sealing);
      await disk.replace(this.#checkpointFile, text);
      this.#checkpointSize = size;
    } catch (error) {
      throw writeFailure("keep a checkpoint", error);
    }
  }
}
