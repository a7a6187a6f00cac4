import { CountersignError, isCountersignError } from "@countersign/core";
import type { MessageSigner } from "../note/sign-note.js";
import type { GroupSigner } from "../sign/group-signer.js";
import type { SignedGroup, SignMode } from "../sign/group.js";
import { renumber } from "../sign/records.js";
import { writeFailure } from "../store/failure.js";
import type { Durability, ReceiptStore } from "../store/store.js";
import type { AppendedEntry } from "./appended-entry.js";
import { assertConsistent, makeCheckpoint } from "./checkpoints.js";
import type { EntryDraft } from "./draft.js";
import { createTileCache } from "../tiles/tile-cache.js";
import "./errors.js";
import { grow } from "./grow.js";
import { PendingGroup } from "./pending-group.js";
import { proveEntry } from "./prove-entry.js";

/** Options of {@link openLog}. */
export type LogOptions = {
  readonly store: ReceiptStore;
  /** Signs receipts; closed together with the log unless `keepSigner`. */
  readonly signer: GroupSigner;
  /** Signs checkpoints: a key of its own, named by the origin. */
  readonly checkpointSigner: MessageSigner;
  /** Name of the log, `gateway.example.com/log`. */
  readonly origin: string;
  /** `strict` when left out. */
  readonly durability?: Durability;
  /** `each` when left out. */
  readonly sign?: SignMode;
  /** Milliseconds since the epoch; the system's clock when left out. */
  readonly clock?: () => number;
  /** Unfinished appends at which further ones are refused; 16,384 when left out. */
  readonly maxQueue?: number;
  /** Receipts signed by one message to a thread, at most; 128 when left out. */
  readonly groupSize?: number;
  /** Entries made durable by one flush, at most; 2,048 when left out. */
  readonly flushSize?: number;
  /** Milliseconds between checkpoints while the log grows; 1,000 when left out, 0 for none. */
  readonly checkpointInterval?: number;
  /** Told when a scheduled checkpoint could not be made; the next one is tried all the same. */
  readonly onCheckpointError?: (error: unknown) => void;
  readonly keepSigner?: boolean;
};

/** An open log. */
export type ReceiptLog = {
  /** Signs and appends. Resolves when the entry is as durable as the log promises. */
  append(draft: EntryDraft): Promise<AppendedEntry>;
  /**
   * Signs and appends drafts with consecutive numbers, in their order. Resolves once, when all are as
   * durable as the log promises; rejects for all when one of them is not (some may be in the log all
   * the same). A draft that cannot be an entry rejects the call before anything of it is numbered.
   */
  appendAll(drafts: readonly EntryDraft[]): Promise<readonly AppendedEntry[]>;
  /** Signs a checkpoint of everything acknowledged, at once. */
  checkpoint(): Promise<string>;
  /** `.tlog-proof` of one entry against the newest checkpoint (made now if it does not cover it). */
  proof(seq: number): Promise<string>;
  /** Appends not settled yet. */
  readonly pending: number;
  /** Settles what is under way, signs a last checkpoint, closes signer and store. */
  close(): Promise<void>;
};

/** Entries that wait for no further company. */
const ENOUGH = 32;

function countOption(name: string, value: number | undefined, standard: number): number {
  const count = value ?? standard;
  if (!Number.isSafeInteger(count) || count < 0) throw new TypeError(`${name} is not a count`);
  return count;
}

/** Signed groups with the numbers that follow on `size`; most were signed with those already. */
function numbered(
  size: number,
  groups: readonly PendingGroup[],
): { signed: SignedGroup[]; size: number } {
  let next = size;
  const signed = groups.map((group) => {
    const known = group.signed as SignedGroup;
    const fitting = known.first === next ? known : renumber(known, next);
    group.signed = fitting;
    next += group.count;
    return fitting;
  });
  return { signed, size: next };
}

/** Opens a log over a store, after checking that the store still holds what was signed for. */
export async function openLog(options: LogOptions): Promise<ReceiptLog> {
  const { store, signer, origin, checkpointSigner } = options;
  const clock = options.clock ?? Date.now;
  const durability = options.durability ?? "strict";
  const mode = options.sign ?? "each";
  const maxQueue = countOption("maxQueue", options.maxQueue, 16_384);
  const groupSize = Math.max(1, countOption("groupSize", options.groupSize, 128));
  const flushSize = Math.max(1, countOption("flushSize", options.flushSize, 2_048));
  const interval = countOption("checkpointInterval", options.checkpointInterval, 1_000);
  const covered = await assertConsistent(store, origin);

  const tiles = createTileCache();
  let newest: { size: number; text: string } | undefined;
  let collecting = new PendingGroup();
  // Full groups that wait for a free signing thread.
  const waiting: PendingGroup[] = [];
  const groups: PendingGroup[] = [];
  let signing = 0;
  let pending = 0;
  let closed = false;
  let flushing = false;
  let gathering = false;
  let gathered = 0;
  let checkpointed = covered?.size ?? -1;
  let size = (await store.head()).size;
  // The number the next group to be signed will begin with, if nothing fails and nobody else appends.
  let expected = size;

  const sendToSigner = (group: PendingGroup): void => {
    groups.push(group);
    const request = group.request(mode, expected);
    expected += group.count;
    const fail = (error: unknown): void => {
      group.failed = true;
      pending -= group.count;
      group.reject(error);
    };
    try {
      group.signed = signer.signSmall(request);
    } catch (error) {
      fail(error);
    }
    if (group.failed || group.signed !== undefined) {
      void flush();
      return;
    }
    signing += 1;
    signer
      .sign(request)
      .then((signed) => {
        group.signed = signed;
      }, fail)
      .finally(() => {
        signing -= 1;
        void flush();
        dispatch();
      });
  };

  const dispatch = (): void => {
    if (signing >= signer.parallel) return;
    let group = waiting.shift();
    if (group === undefined) {
      // While something is signed or flushed, a part of a group waits for company: a message to a thread, a
      // root's signature and a flush cost the same for one entry as for a hundred.
      if (collecting.count === 0 || signing > 0 || flushing) return;
      group = collecting;
      collecting = new PendingGroup();
    }
    sendToSigner(group);
    dispatch();
  };

  // What comes a moment apart shares a signature and a flush: the event loop goes round until a round brings no more.
  const gather = (): void => {
    if (collecting.count > gathered && collecting.count < ENOUGH) {
      gathered = collecting.count;
      setImmediate(gather);
      return;
    }
    gathering = false;
    dispatch();
  };
  const gatherSoon = (): void => {
    if (gathering || signing > 0 || flushing) return;
    gathering = true;
    gathered = 0;
    setImmediate(gather);
  };

  // Groups signed so far, from the oldest on, without a gap: their order is the order of the log.
  const takeSigned = (): PendingGroup[] => {
    const taken: PendingGroup[] = [];
    let count = 0;
    while (groups[0] !== undefined && (groups[0].failed || groups[0].signed !== undefined)) {
      if (count > 0 && count + groups[0].count > flushSize) break;
      const group = groups.shift() as PendingGroup;
      if (group.failed) continue;
      taken.push(group);
      count += group.count;
    }
    return taken;
  };

  // Others may have appended, or something failed: what is signed from now on is numbered from here.
  const expectAfter = (end: number): void => {
    expected = groups.reduce((sum, group) => sum + (group.failed ? 0 : group.count), end);
  };

  const flush = async (): Promise<void> => {
    if (flushing) return;
    flushing = true;
    for (let taken = takeSigned(); taken.length > 0; taken = takeSigned()) {
      let end = 0;
      try {
        await store.append((head) => {
          const { signed, size: after } = numbered(head.size, taken);
          end = after;
          return grow(head, signed, () => taken.flatMap((one) => one.kept));
        }, durability);
      } catch (error) {
        const failure = isCountersignError(error) ? error : writeFailure("append", error);
        for (const group of taken) {
          pending -= group.count;
          group.reject(failure);
        }
        expectAfter(size);
        continue;
      }
      for (const group of taken) {
        pending -= group.count;
        group.resolve();
      }
      size = end;
      expectAfter(size);
    }
    flushing = false;
    // Whoever is told now goes first, and what has come meanwhile joins the next group.
    gatherSoon();
  };

  const checkpoint = async (): Promise<string> => {
    const made = await makeCheckpoint(store, origin, checkpointSigner);
    const { size: covers } = made.checkpoint;
    if (newest === undefined || covers >= newest.size) newest = { size: covers, text: made.text };
    checkpointed = Math.max(checkpointed, covers);
    return made.text;
  };
  let checkpointing: Promise<unknown> = Promise.resolve();
  const timer =
    interval === 0
      ? undefined
      : setInterval(() => {
          if (size === checkpointed) return;
          checkpointing = checkpointing
            .then(() => (size === checkpointed ? undefined : checkpoint()))
            .catch((error: unknown) => options.onCheckpointError?.(error));
        }, interval);
  timer?.unref();

  const settle = async (): Promise<void> => {
    while (pending > 0) {
      dispatch();
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
  };

  const collect = (drafts: readonly EntryDraft[]): Promise<readonly AppendedEntry[]> => {
    if (closed) throw new CountersignError("ERR_LOG_CLOSED", "the log is closed", {});
    if (pending + drafts.length > maxQueue) {
      const facts = { limit: maxQueue };
      throw new CountersignError("ERR_LOG_QUEUE_FULL", "too many appends are under way", facts);
    }
    const appended =
      store.readsDrafts === true
        ? collecting.addKept(drafts, clock())
        : collecting.add(drafts, clock());
    pending += drafts.length;
    if (collecting.count >= groupSize) {
      waiting.push(collecting);
      collecting = new PendingGroup();
      dispatch();
    } else gatherSoon();
    return appended;
  };
  // One promise an append: an asynchronous function around it would make three.
  const appendAll: ReceiptLog["appendAll"] = (drafts) => {
    if (drafts.length === 0) return Promise.resolve([]);
    try {
      return collect(drafts);
    } catch (error) {
      return Promise.reject(error as Error);
    }
  };

  return {
    get pending() {
      return pending;
    },
    append: async (draft) => (await appendAll([draft]))[0] as AppendedEntry,
    appendAll,
    checkpoint,
    async proof(seq) {
      if (newest === undefined || newest.size <= seq) await checkpoint();
      return proveEntry(store, seq, newest?.text ?? "", tiles);
    },
    async close() {
      if (closed) return;
      closed = true;
      clearInterval(timer);
      await settle();
      await checkpointing;
      try {
        if (size !== checkpointed) await checkpoint();
      } finally {
        if (options.keepSigner !== true) await signer.close();
        await store.close();
      }
    },
  };
}
