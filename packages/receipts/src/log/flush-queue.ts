import { isCountersignError } from "@countersign/core";
import type { SignedGroup } from "../sign/group.js";
import { renumber } from "../sign/records.js";
import { writeFailure } from "../store/failure.js";
import type { Durability, ReceiptStore, StoreHead } from "../store/store.js";
import { grow } from "./grow.js";
import { lostEntries } from "./checkpoints.js";
import type { CheckpointCoverage } from "./checkpoint-coverage.js";
import type { OwnLineage } from "./own-lineage.js";
import type { PendingGroup } from "./pending-group.js";
import { assertSealed, isUnsealed } from "./seal.js";
import type { LogSeal } from "./seal.js";

/** Options of {@link FlushQueue}. */
export type FlushQueueOptions = {
  readonly store: ReceiptStore;
  readonly durability: Durability;
  /** Maximum number of entries made durable by one flush. */
  readonly flushSize: number;
  /** Entries in the log when it was opened. */
  readonly size: number;
  /** Seals appended entries and detects foreign ones. */
  readonly seal: LogSeal | undefined;
  /** The part of the log that needs no seal. */
  readonly coverage: CheckpointCoverage;
  /** Records every tree that this log grows. */
  readonly lineage: OwnLineage;
  /** Called with the number of entries that were appended or rejected. */
  settled(count: number): void;
  /** Called when there is nothing left to flush. */
  idle(): void;
};

/**
 * Groups on their way into the store, in the order of the log: each waits for its signatures, then
 * for a flush.
 */
export class FlushQueue {
  readonly #options: FlushQueueOptions;
  readonly #groups: PendingGroup[] = [];
  #isFlushing = false;
  #size: number;
  /**
   * The number of the next group's first entry, unless an append fails or another gateway appends.
   */
  #expected: number;
  /** The last tree of this log, if the store returns the same object. */
  #own: StoreHead | undefined;

  constructor(options: FlushQueueOptions) {
    this.#options = options;
    this.#size = options.size;
    this.#expected = options.size;
  }

  /** Entries of the log that have the promised durability. */
  get size(): number {
    return this.#size;
  }

  get isFlushing(): boolean {
    return this.#isFlushing;
  }

  /** Adds a group to the queue; returns the expected number of its first entry. */
  enter(group: PendingGroup): number {
    this.#groups.push(group);
    const first = this.#expected;
    this.#expected += group.count;
    return first;
  }

  /** Rejects a group that could not be signed; later groups move up. */
  fail(group: PendingGroup, error: unknown): void {
    group.failed = true;
    this.#options.settled(group.count);
    group.reject(error);
  }

  /** Writes the signed groups, flush by flush, until none is left. */
  async flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    for (let taken = this.#takeSigned(); taken.length > 0; taken = this.#takeSigned()) {
      await this.#write(taken);
    }
    this.#isFlushing = false;
    this.#options.idle();
  }

  /** The oldest groups that are signed, without a gap: their order is the order of the log. */
  #takeSigned(): PendingGroup[] {
    const groups = this.#groups;
    const taken: PendingGroup[] = [];
    let count = 0;
    while (groups[0] !== undefined && (groups[0].failed || groups[0].signed !== undefined)) {
      if (count > 0 && count + groups[0].count > this.#options.flushSize) break;
      const group = groups.shift() as PendingGroup;
      if (group.failed) continue;
      taken.push(group);
      count += group.count;
    }
    return taken;
  }

  async #write(taken: readonly PendingGroup[]): Promise<void> {
    const { store, durability, settled, seal, coverage, lineage } = this.#options;
    let end = 0;
    let grown: StoreHead | undefined;
    const append = (): Promise<void> =>
      store.append((head) => {
        this.#assertOwn(head);
        const { signed, size } = numbered(head.size, taken);
        end = size;
        const batch = grow(head, signed, () => taken.flatMap((one) => one.kept), seal);
        grown = batch.frontier;
        lineage.grow(head, grown);
        return batch;
      }, durability);
    try {
      await coverage.retry(append, isUnsealed);
    } catch (error) {
      const failure = isCountersignError(error) ? error : writeFailure("append", error);
      for (const group of taken) {
        settled(group.count);
        group.reject(failure);
      }
      this.#expectFrom(this.#size);
      return;
    }
    for (const group of taken) {
      settled(group.count);
      group.resolve();
    }
    this.#size = end;
    this.#own = grown;
    this.#expectFrom(end);
  }

  /** Refuses to append after foreign entries, or where entries were removed. */
  #assertOwn(head: StoreHead): void {
    if (head === this.#own) return;
    if (head.size < this.#size) throw lostEntries(this.#size);
    const { seal, coverage } = this.#options;
    if (seal !== undefined) assertSealed(seal, head, coverage.known);
  }

  /** After a failure or a foreign append: renumbers the groups that will be signed from here. */
  #expectFrom(size: number): void {
    this.#expected = this.#groups.reduce(
      (sum, group) => sum + (group.failed ? 0 : group.count),
      size,
    );
  }
}

/** Signed groups with numbers starting at `size`; most have these numbers already. */
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
