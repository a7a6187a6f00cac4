import { isCountersignError } from "@countersign/core";
import type { SignedGroup } from "../sign/group.js";
import { renumber } from "../sign/records.js";
import { writeFailure } from "../store/failure.js";
import type { Durability, ReceiptStore, StoreHead } from "../store/store.js";
import { grow } from "./grow.js";
import { lostEntries } from "./checkpoints.js";
import type { Covered } from "./covered.js";
import type { Descent } from "./descent.js";
import type { PendingGroup } from "./pending-group.js";
import { assertSealed, isUnsealed } from "./seal.js";
import type { LogSeal } from "./seal.js";

/** What a {@link FlushQueue} needs. */
export type FlushQueueOptions = {
  readonly store: ReceiptStore;
  readonly durability: Durability;
  /** Entries made durable by one flush, at most. */
  readonly flushSize: number;
  /** Entries in the log when it was opened. */
  readonly size: number;
  /** Seals what is appended, and tells what somebody else did. */
  readonly seal: LogSeal | undefined;
  /** What needs no seal. */
  readonly covered: Covered;
  /** Told of every tree that is made of a head. */
  readonly descent: Descent;
  /** Told how many entries are in the log, or never will be. */
  settled(count: number): void;
  /** Told when there is nothing to flush any more. */
  idle(): void;
};

/** Groups on their way into the store, in the order of the log: each waits for its signatures, then for a flush. */
export class FlushQueue {
  readonly #options: FlushQueueOptions;
  readonly #groups: PendingGroup[] = [];
  #isFlushing = false;
  #size: number;
  /** The number of the next group's first entry, if nothing fails and nobody else appends. */
  #expected: number;
  /** The tree that this log made last, where the store hands it back as it is. */
  #own: StoreHead | undefined;

  constructor(options: FlushQueueOptions) {
    this.#options = options;
    this.#size = options.size;
    this.#expected = options.size;
  }

  /** Entries of the log that are as durable as it promises. */
  get size(): number {
    return this.#size;
  }

  get isFlushing(): boolean {
    return this.#isFlushing;
  }

  /** Gives a group its place, and tells the number its first entry is likely to get. */
  enter(group: PendingGroup): number {
    this.#groups.push(group);
    const first = this.#expected;
    this.#expected += group.count;
    return first;
  }

  /** Signing a group failed: its callers are told, and the others close up. */
  fail(group: PendingGroup, error: unknown): void {
    group.failed = true;
    this.#options.settled(group.count);
    group.reject(error);
  }

  /** Writes what is signed, one flush after the other until nothing more is. */
  async flush(): Promise<void> {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    for (let taken = this.#takeSigned(); taken.length > 0; taken = this.#takeSigned()) {
      await this.#write(taken);
    }
    this.#isFlushing = false;
    this.#options.idle();
  }

  /** Groups signed so far, from the oldest on, without a gap: their order is the order of the log. */
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
    const { store, durability, settled, seal, covered, descent } = this.#options;
    let end = 0;
    let grown: StoreHead | undefined;
    const append = (): Promise<void> =>
      store.append((head) => {
        this.#assertOwn(head);
        const { signed, size } = numbered(head.size, taken);
        end = size;
        const batch = grow(head, signed, () => taken.flatMap((one) => one.kept), seal);
        grown = batch.frontier;
        descent.grow(head, grown);
        return batch;
      }, durability);
    try {
      await covered.retry(append, isUnsealed);
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

  /** Nothing is appended behind what somebody else wrote, or where something was taken away. */
  #assertOwn(head: StoreHead): void {
    if (head === this.#own) return;
    if (head.size < this.#size) throw lostEntries(this.#size);
    const { seal, covered } = this.#options;
    if (seal !== undefined) assertSealed(seal, head, covered.known);
  }

  /** Others may have appended, or something failed: what is signed from now on is numbered from here. */
  #expectFrom(size: number): void {
    this.#expected = this.#groups.reduce(
      (sum, group) => sum + (group.failed ? 0 : group.count),
      size,
    );
  }
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
