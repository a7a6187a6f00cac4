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
 * What an append must survive before its promise resolves.
 * `strict`: the process being killed and the power failing.
 * `relaxed`: the process being killed; a power failure may take the last moments with it.
 */
export type Durability = "strict" | "relaxed";

/** The acknowledged tree, with the seal that its last append brought. */
export type StoreHead = Frontier & { readonly seal?: Uint8Array | undefined };

/** Bytes that no commit covers, and where they begin. */
export type Uncommitted = { readonly position: number; readonly bytes: Uint8Array };

/** A hash of a tile level above the leaves that an append completed. */
export type TileHash = {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
};

/** Entries fitted onto one particular head. Valid only until the append settles. */
export type AppendBatch = {
  readonly count: number;
  /** The entries in bundle encoding (16-bit big-endian length, then the bytes), in pieces. */
  readonly records: readonly Uint8Array[];
  /** Leaf hashes side by side, in pieces. */
  readonly leaves: readonly Uint8Array[];
  /** Where in the records the entries begin that begin a bundle of 256, in order. */
  readonly bundleStarts: readonly number[];
  /** Hashes of the tile levels above that these leaves completed, in order. */
  readonly above: readonly TileHash[];
  /** The tree after the append, with the seal to keep. */
  readonly frontier: StoreHead;
  /** The root of that tree. */
  root(): Uint8Array;
  /** What the entries were made from, if the store says that it reads them. */
  drafts(): readonly TimedDraft[];
};

/**
 * Where a log lives. The contract (docs/receipts/stores.md) in short:
 *
 * - `append` is atomic: all entries or none. Resolved means durable as asked; rejected means nothing
 *   was acknowledged, though the entries may be there (a lost answer).
 * - The store owns the truth about the head. `append` calls `build` exactly once per attempt with the
 *   head as it is on the medium, while nobody else can append; after a failure the next call re-reads.
 * - The store does not retry and does not queue: one log has one append under way. Several logs (other
 *   processes) may use a shared store; each sees the others' entries as part of the head.
 * - Reads may run at any time and see acknowledged entries only.
 */
export type ReceiptStore = {
  /** Set by a store that fills index columns from the drafts of a batch; for any other they are not kept. */
  readonly readsDrafts?: true;
  append(build: (head: StoreHead) => AppendBatch, durability: Durability): Promise<void>;
  /** The acknowledged tree, re-read from the medium when its state is in doubt. */
  head(): Promise<StoreHead>;
  /** Bytes of a tile or entry bundle; its width must not pass the acknowledged size. */
  readTile(tile: TileName): Promise<Uint8Array>;
  /** Entries `start` up to, not including, `end`; at most 4,096 at once. */
  readEntries(start: number, end: number): Promise<Uint8Array[]>;
  /**
   * Only in a store that shows the log as of its last checkpoint: the entries that were committed
   * since, oldest first. They are durable, and nothing signed covers them yet.
   */
  readTail?(): AsyncIterable<Uint8Array>;
  /** Only beside `readTail`: what follows the last commit and is not zero, as a write in progress, a crash or a change leaves it. */
  readUncommitted?(): Promise<Uncommitted | undefined>;
  /**
   * Only in a store that keeps what questions look for beside the entries, where others can write: the first entry from
   * `start` up to, not including, `end` that it would be found by something else than it says.
   */
  findMisfiled?(start: number, end: number): Promise<number | undefined>;
  /** The last signed checkpoint, as it was written. */
  readCheckpoint(): Promise<string | undefined>;
  /** Keeps a checkpoint; every tile it commits to is durable before it can be read. An older one never replaces a newer. */
  writeCheckpoint(text: string, size: number): Promise<void>;
  /** The history of receipt keys that a writer of the log kept here last, as it was written. */
  readKeyHistory(): Promise<string | undefined>;
  /**
   * Keeps it, so that a writer with an older copy of the keys is known for one; whether it did. What is there is only
   * ever gone on with: a history that it is not the beginning of is not kept, whoever wrote since one looked.
   */
  writeKeyHistory(text: string): Promise<boolean>;
  /** Entries that match, in log order or reverse. Sees every entry acknowledged before the call. */
  query(filter: EntryFilter, page?: PageRequest): Promise<EntryPage>;
  /** Counts of matching entries by any columns and time buckets. */
  count(request: CountRequest): Promise<CountRow[]>;
  /** Keeps foreign receipts beside ours; one already there (same hash) is left as it is. */
  importForeign(receipts: readonly ForeignReceipt[]): Promise<number>;
  /** Foreign receipts of a session or an agent, oldest first. */
  queryForeign(filter: ForeignFilter): Promise<ForeignReceipt[]>;
  close(): Promise<void>;
};

/** Most entries one `readEntries` gives. */
export const MAX_READ_ENTRIES = 4_096;
