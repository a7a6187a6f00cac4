import type { SignedGroup, SignMode, SignRequest } from "../sign/group.js";
import { AppendedEntry } from "./appended-entry.js";
import { DraftRows } from "./draft-rows.js";
import type { EntryDraft, TimedDraft } from "../entry/draft.js";

/** One `appendAll` call: its range of the group and its promise callbacks. */
type Call = {
  readonly start: number;
  readonly end: number;
  resolve(entries: AppendedEntry[]): void;
  reject(error: unknown): void;
};

/**
 * Appends that are signed by one message and acknowledged by one flush. It keeps as little of the
 * drafts as possible: objects that survive a minor garbage collection cost more than writing their
 * text.
 */
export class PendingGroup {
  /** Drafts that a store will read. */
  readonly kept: TimedDraft[] = [];
  /** Set when signed; until then later groups wait too, which keeps the order. */
  signed: SignedGroup | undefined;
  /** Signing failed: nothing of this group is written. */
  failed = false;
  readonly #rows = new DraftRows();
  readonly #eventIds: string[] = [];
  readonly #singles: number[] = [];
  readonly #calls: Call[] = [];

  get count(): number {
    return this.#eventIds.length;
  }

  /** Adds drafts that belong together; throws when one of them cannot be an entry. */
  add(drafts: readonly EntryDraft[], now: number): Promise<AppendedEntry[]> {
    const start = this.count;
    this.#rows.addAll(drafts, now);
    for (const { receipt } of drafts) {
      // The receipt of a blocked event must verify alone, so it never shares a root.
      if (!receipt.allowed) this.#singles.push(this.#eventIds.length);
      this.#eventIds.push(receipt.event_id);
    }
    return new Promise((resolve, reject) => {
      this.#calls.push({ start, end: this.count, resolve, reject });
    });
  }

  /** The same, and keeps the drafts with their times for a store that reads them. */
  addKept(drafts: readonly EntryDraft[], now: number): Promise<AppendedEntry[]> {
    const timed = drafts.map((draft): TimedDraft => ({
      ...draft,
      received_at: draft.received_at ?? now,
    }));
    const added = this.add(timed, now);
    this.kept.push(...timed);
    return added;
  }

  /** The number of appends. */
  get calls(): number {
    return this.#calls.length;
  }

  request(mode: SignMode, first: number): SignRequest {
    const { rows, payloads } = this.#rows.take();
    // Written out: spreading another object takes microseconds to add the other members.
    return { rows, payloads, count: this.count, mode, singles: this.#singles, first };
  }

  resolve(): void {
    const signed = this.signed as SignedGroup;
    for (const { start, end, resolve } of this.#calls) {
      const entries: AppendedEntry[] = [];
      for (let index = start; index < end; index += 1) {
        const eventId = this.#eventIds[index] as string;
        entries.push(new AppendedEntry(signed.first + index, eventId, signed, index));
      }
      resolve(entries);
    }
  }

  reject(error: unknown): void {
    for (const one of this.#calls) one.reject(error);
  }
}
