import type { GroupSigner } from "../sign/group-signer.js";
import type { SignMode } from "../sign/group.js";
import type { Durability, ReceiptStore } from "../store/store.js";
import type { CheckpointCoverage } from "./checkpoint-coverage.js";
import type { OwnLineage } from "./own-lineage.js";
import type { AppendedEntry } from "./appended-entry.js";
import type { EntryDraft } from "../entry/draft.js";
import { FlushQueue } from "./flush-queue.js";
import { PendingGroup } from "./pending-group.js";
import type { LogSeal } from "./seal.js";

/** Options of {@link AppendQueue}. */
export type AppendQueueOptions = {
  readonly store: ReceiptStore;
  readonly signer: GroupSigner;
  readonly durability: Durability;
  readonly mode: SignMode;
  /** Maximum number of receipts signed by one message to a thread. */
  readonly groupSize: number;
  /** Maximum number of entries made durable by one flush. */
  readonly flushSize: number;
  /** Entries in the log when it was opened. */
  readonly size: number;
  readonly seal: LogSeal | undefined;
  /** The part of the log that the newest checkpoint covers. */
  readonly coverage: CheckpointCoverage;
  /** Records the trees that this log creates. */
  readonly lineage: OwnLineage;
};

/** A group of this many entries is signed without waiting for more. */
const MAX_GATHERED = 32;

/** The path of drafts into the store: collected into groups, signed, and flushed in order. */
export class AppendQueue {
  readonly #options: AppendQueueOptions;
  readonly #flushes: FlushQueue;
  #collecting = new PendingGroup();
  /** Full groups that wait for a free signing thread. */
  readonly #waiting: PendingGroup[] = [];
  #signing = 0;
  #pending = 0;
  #isGathering = false;
  #gathered = 0;
  /** The last group was one append alone: the next one does not wait for others. */
  #isCalm = false;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
    const { store, durability, flushSize, size, seal, coverage, lineage } = options;
    this.#flushes = new FlushQueue({
      store,
      durability,
      flushSize,
      size,
      seal,
      coverage,
      lineage,
      settled: (count) => {
        this.#pending -= count;
      },
      // Callers of the last flush run first; drafts that arrived meanwhile join the next group.
      idle: () => this.#gatherSoon(),
    });
  }

  /** Entries that are not settled yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Entries of the log that have the promised durability. */
  get size(): number {
    return this.#flushes.size;
  }

  /** Adds drafts that belong together; throws when one of them cannot be an entry. */
  add(drafts: readonly EntryDraft[], now: number): Promise<readonly AppendedEntry[]> {
    const { store, groupSize } = this.#options;
    const group = this.#collecting;
    const appended =
      store.readsDrafts === true ? group.addKept(drafts, now) : group.add(drafts, now);
    this.#pending += drafts.length;
    if (group.count >= groupSize) {
      this.#waiting.push(group);
      this.#collecting = new PendingGroup();
      this.#dispatch();
    } else if (this.#isCalm && !this.#isGathering) this.#dispatch();
    else this.#gatherSoon();
    return appended;
  }

  /** Resolves when no append is in flight. */
  async settle(): Promise<void> {
    while (this.#pending > 0) {
      this.#dispatch();
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    }
  }

  #gatherSoon(): void {
    if (this.#isGathering || this.#isBusy()) return;
    this.#isGathering = true;
    this.#gathered = 0;
    setImmediate(this.#gather);
  }

  // Drafts that arrive within a few turns of the event loop share a signature and a flush: collect
  // until a turn adds none.
  readonly #gather = (): void => {
    const { count } = this.#collecting;
    if (count > this.#gathered && count < MAX_GATHERED) {
      this.#gathered = count;
      setImmediate(this.#gather);
      return;
    }
    this.#isGathering = false;
    this.#dispatch();
  };

  /** Signs the groups that are ready. */
  #dispatch(): void {
    while (this.#signing < this.#options.signer.parallel) {
      const group = this.#waiting.shift() ?? this.#takeCollected();
      if (group === undefined) return;
      this.#sign(group);
    }
  }

  /**
   * While a group is being signed or flushed, a partial group waits for more entries. A message to a
   * thread, a root signature and a flush cost the same for one entry as for a hundred.
   */
  #takeCollected(): PendingGroup | undefined {
    const group = this.#collecting;
    if (group.count === 0 || this.#isBusy()) return undefined;
    this.#collecting = new PendingGroup();
    return group;
  }

  #isBusy(): boolean {
    return this.#signing > 0 || this.#flushes.isFlushing;
  }

  #sign(group: PendingGroup): void {
    const { signer, mode } = this.#options;
    const flushes = this.#flushes;
    this.#isCalm = group.calls === 1;
    const request = group.request(mode, flushes.enter(group));
    try {
      group.signed = signer.signSmall(request);
    } catch (error) {
      flushes.fail(group, error);
    }
    if (group.failed || group.signed !== undefined) {
      void flushes.flush();
      return;
    }
    this.#signing += 1;
    signer
      .sign(request)
      .then(
        (signed) => {
          group.signed = signed;
        },
        (error: unknown) => flushes.fail(group, error),
      )
      .finally(() => {
        this.#signing -= 1;
        void flushes.flush();
        this.#dispatch();
      });
  }
}
