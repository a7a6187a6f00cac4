import type { TimedDraft } from "../entry/draft.js";
import type { Frontier } from "../merkle/tree.js";
import type {
  CountRequest,
  CountRow,
  EntryFilter,
  EntryPage,
  PageRequest,
} from "../query/query.js";
import type { ForeignReceipt, ForeignFilter } from "../import/foreign.js";
import type { TileName } from "../tiles/path.js";
import "./errors.js";

/**
 * The failures that an append survives once its promise resolves.
 * `strict`: a killed process and a power failure.
 * `relaxed`: a killed process; a power failure may lose the last moments.
 */
export type Durability = "strict" | "relaxed";

/** The acknowledged tree, with the seal of its last append. */
export type StoreHead = Frontier & { readonly seal?: Uint8Array | undefined };

/** Bytes that no commit covers, and their position. */
export type Uncommitted = { readonly position: number; readonly bytes: Uint8Array };

/** A hash of a tile level above the leaves that an append completed. */
export type TileHash = {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
};

/** Entries prepared for one particular head. Valid only until the append settles. */
export type AppendBatch = {
  readonly count: number;
  /** The entries in bundle encoding (16-bit big-endian length, then the bytes), in pieces. */
  readonly records: readonly Uint8Array[];
  /** Concatenated leaf hashes, in pieces. */
  readonly leaves: readonly Uint8Array[];
  /** Positions in the records of the entries that start a bundle of 256, in order. */
  readonly bundleStarts: readonly number[];
  /** Hashes of the tile levels above that these leaves completed, in order. */
  readonly above: readonly TileHash[];
  /** The tree after the append, with the seal to store. */
  readonly frontier: StoreHead;
  /** The root of that tree. */
  root(): Uint8Array;
  /** The drafts of the entries, if the store sets `readsDrafts`. */
  drafts(): readonly TimedDraft[];
};

/**
 * The storage of a log. The contract (docs/receipts/stores.md) in short:
 *
 * - `append` is atomic: all entries or none. Resolved means durable as asked; rejected means nothing
 *   was acknowledged, though the entries may be stored (a lost reply).
 * - The store owns the head. `append` calls `build` exactly once per attempt with the
 *   stored head, while no other writer can append; after a failure the next call re-reads.
 * - The store does not retry and does not queue: one log has one append under way. Several logs (other
 *   processes) may use a shared store; each sees the others' entries as part of the head.
 * - Reads may run at any time and see acknowledged entries only.
 */
export type ReceiptStore = {
  /**
   * Set by a store that fills index columns from the drafts of a batch; for other stores drafts are
   * not kept.
   */
  readonly readsDrafts?: true;
  append(build: (head: StoreHead) => AppendBatch, durability: Durability): Promise<void>;
  /** The acknowledged tree, re-read from storage when its state is uncertain. */
  head(): Promise<StoreHead>;
  /** Bytes of a tile or entry bundle; its width must not exceed the acknowledged size. */
  readTile(tile: TileName): Promise<Uint8Array>;
  /** Entries `start` up to, not including, `end`; at most 4,096 at once. */
  readEntries(start: number, end: number): Promise<Uint8Array[]>;
  /**
   * Only in a store that shows the log up to its last checkpoint: the entries committed since,
   * oldest first. They are durable, but no signature covers them yet.
   */
  readTail?(): AsyncIterable<Uint8Array>;
  /**
   * Only with `readTail`: nonzero bytes after the last commit, from a write in progress, a crash or
   * tampering.
   */
  readUncommitted?(): Promise<Uncommitted | undefined>;
  /**
   * Only in a store with index columns that others can write: the first entry from `start` up to,
   * not including, `end` whose columns contradict its bytes.
   */
  findMismatchedRow?(start: number, end: number): Promise<number | undefined>;
  /** The first entry that the store has: the entries before it were removed by `remove`. */
  first(): Promise<number>;
  /**
   * The number to remove entries before: at most `limit`, a multiple of 256, covered by the last
   * checkpoint. An embedded store removes whole files; the next append starts a new file when the
   * current one has entries before `rotate`.
   */
  planRemoval(limit: number, rotate: number): Promise<number>;
  /**
   * Removes the entries before `first`, a planned number. Their hashes stay: every checkpoint and
   * every proof stays valid.
   */
  remove(first: number): Promise<void>;
  /** The last signed checkpoint, verbatim. */
  readCheckpoint(): Promise<string | undefined>;
  /**
   * Stores a checkpoint; every tile it commits to is durable before it can be read. An older one
   * never replaces a newer one.
   */
  writeCheckpoint(text: string, size: number): Promise<void>;
  /** The stored attestations of third parties about checkpoints (`Attestations`). */
  readAttestations(): Promise<string | undefined>;
  /** Replaces the attestations in one step; `change` gets the stored ones. */
  updateAttestations(change: ChangeText): Promise<void>;
  /**
   * Whether this holder obtains attestations for the next `ms` milliseconds: of several gateways
   * that share a log one does.
   */
  leaseAttesting(holder: string, ms: number): Promise<boolean>;
  /** The stored history of receipt keys, verbatim. */
  readKeyHistory(): Promise<string | undefined>;
  /**
   * Stores the key history, so that a writer with outdated keys can be detected; returns whether it
   * did. A history is only ever extended: one that does not start with the stored history is
   * rejected.
   */
  writeKeyHistory(text: string): Promise<boolean>;
  /**
   * Matching entries, in log order or reverse. Includes every entry acknowledged before the call.
   */
  query(filter: EntryFilter, page?: PageRequest): Promise<EntryPage>;
  /** Counts of matching entries by any columns and time buckets. */
  count(request: CountRequest): Promise<CountRow[]>;
  /** Stores foreign receipts; one with a known hash is ignored. */
  importForeign(receipts: readonly ForeignReceipt[]): Promise<number>;
  /** Foreign receipts of a session or an agent, oldest first. */
  queryForeign(filter: ForeignFilter): Promise<ForeignReceipt[]>;
  close(): Promise<void>;
};

/** Returns the text that replaces a stored one; `undefined` keeps it. */
export type ChangeText = (
  stored: string | undefined,
) => string | undefined | Promise<string | undefined>;

/** Maximum number of entries per `readEntries` call. */
export const MAX_READ_ENTRIES = 4_096;
