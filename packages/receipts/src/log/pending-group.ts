import type { SignedGroup, SignMode, SignRequest } from "../sign/group.js";
import { AppendedEntry } from "./appended-entry.js";
import { DraftRows } from "./draft-rows.js";
import type { EntryDraft, TimedDraft } from "../entry/draft.js";

/** One `appendAll`: its part of the group, and whom to tell. */
type Call = {
  readonly start: number;
  readonly end: number;
  resolve(entries: AppendedEntry[]): void;
  reject(error: unknown): void;
};

/**
 * Appends that travel together: signed by one message, acknowledged by one flush. It keeps of the drafts
 * what it must: objects that outlive a collection of young ones cost more than writing them down.
 */
export class PendingGroup {
  /** Drafts that were kept. */
  readonly kept: TimedDraft[] = [];
  /** Set when signed; until then the groups behind it wait too, so that order is kept. */
  signed: SignedGroup | undefined;
  /** Signing failed: nothing of it is written. */
  failed = false;
  readonly #rows = new DraftRows();
  readonly #eventIds: string[] = [];
  readonly #singles: number[] = [];
  readonly #calls: Call[] = [];

  get count(): number {
    return this.#eventIds.length;
  }

  /** Adds drafts that belong together, or throws because one of them cannot be an entry. */
  add(drafts: readonly EntryDraft[], now: number): Promise<AppendedEntry[]> {
    const start = this.count;
    this.#rows.addAll(drafts, now);
    for (const { receipt } of drafts) {
      // A blocked event's receipt must stand alone, so it never shares a root.
      if (!receipt.allowed) this.#singles.push(this.#eventIds.length);
      this.#eventIds.push(receipt.event_id);
    }
    return new Promise((resolve, reject) => {
      this.#calls.push({ start, end: this.count, resolve, reject });
    });
  }

  /** The same, keeping the drafts with their times for a store that reads them. */
  addKept(drafts: readonly EntryDraft[], now: number): Promise<AppendedEntry[]> {
    const timed = drafts.map((draft): TimedDraft => ({
      ...draft,
      received_at: draft.received_at ?? now,
    }));
    const added = this.add(timed, now);
    this.kept.push(...timed);
    return added;
  }

  request(mode: SignMode, first: number): SignRequest {
    const { rows, payloads } = this.#rows.take();
    // Written out: an object that begins as a copy of another takes microseconds to get its other members.
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
