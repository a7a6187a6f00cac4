import type { SignedGroup, SignMode, SignRequest } from "../sign/group.js";
import { AppendedEntry } from "./appended-entry.js";
import { DraftRows } from "./draft-rows.js";
import type { EntryDraft, TimedDraft } from "./draft.js";

/** One `appendAll`: its part of the group, and whom to tell. */
type Call = {
  readonly start: number;
  readonly end: number;
  resolve(entries: AppendedEntry[]): void;
  reject(error: unknown): void;
};

/** Appends that travel together: signed by one message, acknowledged by one flush. */
export class PendingGroup {
  readonly drafts: EntryDraft[] = [];
  readonly times: number[] = [];
  /** Set when signed; until then the groups behind it wait too, so that order is kept. */
  signed: SignedGroup | undefined;
  /** Signing failed: nothing of it is written. */
  failed = false;
  readonly #rows = new DraftRows();
  readonly #singles: number[] = [];
  readonly #calls: Call[] = [];

  get count(): number {
    return this.drafts.length;
  }

  /** Adds drafts that belong together, or throws because one of them cannot be an entry. */
  add(drafts: readonly EntryDraft[], clock: () => number): Promise<AppendedEntry[]> {
    const start = this.count;
    for (const draft of drafts) this.times.push(draft.received_at ?? clock());
    try {
      this.#rows.addAll(drafts, this.times, start);
    } catch (error) {
      this.times.length = start;
      throw error;
    }
    for (const draft of drafts) {
      // A blocked event's receipt must stand alone, so it never shares a root.
      if (!draft.receipt.allowed) this.#singles.push(this.drafts.length);
      this.drafts.push(draft);
    }
    return new Promise((resolve, reject) => {
      this.#calls.push({ start, end: this.count, resolve, reject });
    });
  }

  /** The drafts with their times, for stores that fill index columns themselves. */
  timedDrafts(): TimedDraft[] {
    return this.drafts.map((draft, index) => ({
      ...draft,
      received_at: this.times[index] as number,
    }));
  }

  request(mode: SignMode, first: number): SignRequest {
    return { ...this.#rows.take(), count: this.count, mode, singles: this.#singles, first };
  }

  resolve(): void {
    const signed = this.signed as SignedGroup;
    for (const { start, end, resolve } of this.#calls) {
      const entries: AppendedEntry[] = [];
      for (let index = start; index < end; index += 1) {
        const { event_id } = (this.drafts[index] as EntryDraft).receipt;
        entries.push(new AppendedEntry(signed.first + index, event_id, signed, index));
      }
      resolve(entries);
    }
  }

  reject(error: unknown): void {
    for (const one of this.#calls) one.reject(error);
  }
}
