import { CountersignError } from "@countersign/core";
import type { MessageSigner } from "../note/sign-note.js";
import type { GroupSigner } from "../sign/group-signer.js";
import type { SignMode } from "../sign/group.js";
import type { Durability, ReceiptStore } from "../store/store.js";
import { AppendQueue } from "./append-queue.js";
import type { AppendedEntry } from "./appended-entry.js";
import { CheckpointScheduler } from "./checkpoint-scheduler.js";
import { assertConsistent, assertExtends } from "./checkpoints.js";
import { CheckpointCoverage } from "./checkpoint-coverage.js";
import { OwnLineage } from "./own-lineage.js";
import type { EntryDraft } from "../entry/draft.js";
import type { KnownHead, LogSeal } from "./seal.js";
import { assertTail } from "./tail.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The log holds the maximum number of pending appends. */
    ERR_LOG_QUEUE_FULL: { limit: number };
    /** The log is closed or closing. */
    ERR_LOG_CLOSED: Record<string, never>;
    /** The stored tree contradicts its own signed checkpoint. */
    ERR_LOG_INCONSISTENT: { size: number; reason: string };
    /** The entries after the last checkpoint were not written by a gateway of this log. */
    ERR_LOG_FOREIGN_TAIL: { size: number; covered: number };
  }
}

/** Options of {@link openLog}. */
export type LogOptions = {
  readonly store: ReceiptStore;
  /** Signs receipts; closed with the log unless `keepSigner`. */
  readonly signer: GroupSigner;
  /** Signs checkpoints with a separate key, named by the origin. */
  readonly checkpointSigner: MessageSigner;
  /** Name of the log, `gateway.example.com/log`. */
  readonly origin: string;
  /**
   * Seals appended entries, and rejects entries after the last checkpoint that lack its seal. All
   * writers of a log use the same seal, or none.
   */
  readonly seal?: LogSeal;
  /** Default `strict`. */
  readonly durability?: Durability;
  /** Default `each`. */
  readonly sign?: SignMode;
  /** Milliseconds since the epoch; default: the system clock. */
  readonly clock?: () => number;
  /** Maximum number of pending appends; further ones are rejected. Default 16,384. */
  readonly maxQueue?: number;
  /** Maximum number of receipts signed by one message to a thread; default 128. */
  readonly groupSize?: number;
  /** Maximum number of entries made durable by one flush; default 2,048. */
  readonly flushSize?: number;
  /** Milliseconds between checkpoints while the log grows; default 1,000, 0 for none. */
  readonly checkpointInterval?: number;
  /** Called when a scheduled checkpoint fails; the next one is attempted anyway. */
  readonly onCheckpointError?: (error: unknown) => void;
  readonly keepSigner?: boolean;
};

/** An open log. */
export type ReceiptLog = {
  /** Signs and appends. Resolves when the entry has the promised durability. */
  append(draft: EntryDraft): Promise<AppendedEntry>;
  /**
   * Signs and appends drafts with consecutive numbers, in order. Resolves when all have the
   * promised durability. Rejects for all when one fails; some may still be in the log. A draft that
   * cannot be an entry rejects the call before any of them is numbered.
   */
  appendAll(drafts: readonly EntryDraft[]): Promise<readonly AppendedEntry[]>;
  /** Signs a checkpoint of all acknowledged entries now. */
  checkpoint(): Promise<string>;
  /**
   * `.tlog-proof` of one entry against the newest checkpoint; signs one first if none covers the
   * entry.
   */
  proof(seq: number): Promise<string>;
  /** Appends that are not settled yet. */
  readonly pending: number;
  /** Waits for pending appends, signs a last checkpoint, closes signer and store. */
  close(): Promise<void>;
};

/** Rejects a store that {@link openLog} would reject; writes nothing. */
export async function assertIntact({
  store,
  origin,
  checkpointKey,
  seal,
}: {
  readonly store: ReceiptStore;
  readonly origin: string;
  /** The public key that signs checkpoints, and its seal; both absent before the keys exist. */
  readonly checkpointKey?: Uint8Array;
  readonly seal?: LogSeal;
}): Promise<void> {
  const coverage = await assertConsistent(store, origin, checkpointKey);
  if (seal !== undefined) await assertTail(store, seal, coverage);
}

/** Opens a log over a store, after checking that the store still matches its last checkpoint. */
export async function openLog(options: LogOptions): Promise<ReceiptLog> {
  const { store, signer, origin, checkpointSigner, seal } = options;
  const clock = options.clock ?? Date.now;
  const maxQueue = countOption("maxQueue", options.maxQueue, 16_384);
  const groupSize = Math.max(1, countOption("groupSize", options.groupSize, 128));
  const flushSize = Math.max(1, countOption("flushSize", options.flushSize, 2_048));
  const interval = countOption("checkpointInterval", options.checkpointInterval, 1_000);
  const ownKey = seal === undefined ? undefined : checkpointSigner.publicKey;
  const readNewestCheckpoint = async (known?: KnownHead): Promise<KnownHead | undefined> => {
    const newest = await assertConsistent(store, origin, ownKey);
    if (newest === undefined || known === undefined || newest.size < known.size) return newest;
    await assertExtends(store, known, newest);
    return newest;
  };
  const coverage = new CheckpointCoverage(await readNewestCheckpoint(), readNewestCheckpoint);
  if (seal !== undefined) await assertTail(store, seal, coverage.known);
  const lineage = new OwnLineage();
  const queue = new AppendQueue({
    store,
    signer,
    durability: options.durability ?? "strict",
    mode: options.sign ?? "each",
    groupSize,
    flushSize,
    size: (await store.head()).size,
    seal,
    coverage,
    lineage,
  });
  const checkpoints = new CheckpointScheduler({
    store,
    origin,
    signer: checkpointSigner,
    seal,
    lineage,
    coverage,
    size: () => queue.size,
    interval,
    onError: options.onCheckpointError,
  });
  let isClosed = false;

  const add = (drafts: readonly EntryDraft[]): Promise<readonly AppendedEntry[]> => {
    if (isClosed) throw new CountersignError("ERR_LOG_CLOSED", "the log is closed", {});
    if (queue.pending + drafts.length > maxQueue) {
      const facts = { limit: maxQueue };
      throw new CountersignError("ERR_LOG_QUEUE_FULL", "too many appends are under way", facts);
    }
    return queue.add(drafts, clock());
  };
  // One promise per append: an async function around it would create three.
  const appendAll: ReceiptLog["appendAll"] = (drafts) => {
    if (drafts.length === 0) return Promise.resolve([]);
    try {
      return add(drafts);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };

  return {
    get pending() {
      return queue.pending;
    },
    append: async (draft) => (await appendAll([draft]))[0] as AppendedEntry,
    appendAll,
    checkpoint: () => checkpoints.checkpoint(),
    proof: (seq) => checkpoints.prove(seq),
    async close() {
      if (isClosed) return;
      isClosed = true;
      await queue.settle();
      try {
        await checkpoints.close();
      } finally {
        if (options.keepSigner !== true) await signer.close();
        await store.close();
      }
    },
  };
}

function countOption(name: string, value: number | undefined, standard: number): number {
  const count = value ?? standard;
  if (!Number.isSafeInteger(count) || count < 0) throw new TypeError(`${name} is not a count`);
  return count;
}
