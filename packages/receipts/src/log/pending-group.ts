import type { SignedGroup, SignMode, SignRequest } from "../sign/group.js";
import { AppendedEntry } from "./appended-entry.js";
import { assertDraft } from "./check-draft.js";
import { receiptId } from "./draft.js";
import type { TimedDraft } from "./draft.js";
import { DraftLines } from "./entry-text.js";

/** One `appendAll`: its part of the group, and whom to tell. */
type Call = {
  readonly start: number;
  readonly end: number;
  resolve(entries: AppendedEntry[]): void;
  reject(error: unknown): void;
};

/** Appends that travel together: signed by one message, acknowledged by one flush. */
export class PendingGroup {
  readonly drafts: TimedDraft[] = [];
  /** Set when signed; until then the groups behind it wait too, so that order is kept. */
  signed: SignedGroup | undefined;
  /** Signing failed: nothing of it is written. */
  failed = false;
  readonly #lines: DraftLines;
  readonly #singles: number[] = [];
  readonly #calls: Call[] = [];

  /** `expected` bytes of lines are made room for: those of the group before. */
  constructor(expected?: number) {
    this.#lines = new DraftLines(expected);
  }

  get count(): number {
    return this.drafts.length;
  }

  /** Adds drafts that belong together, or throws because one of them cannot be an entry. */
  add(drafts: readonly TimedDraft[], kernelKey: string): Promise<AppendedEntry[]> {
    const start = this.count;
    const length = this.#lines.length;
    try {
      for (const draft of drafts) {
        assertDraft(draft);
        this.#lines.add(draft, kernelKey);
        this.drafts.push(draft);
      }
    } catch (error) {
      this.#lines.cutTo(length);
      this.drafts.length = start;
      throw error;
    }
    drafts.forEach((draft, index) => {
      // A blocked event's receipt must stand alone, so it never shares a root.
      if (!draft.receipt.allowed) this.#singles.push(start + index);
    });
    return new Promise((resolve, reject) => {
      this.#calls.push({ start, end: this.count, resolve, reject });
    });
  }

  request(mode: SignMode): SignRequest {
    return { lines: this.#lines.take(), count: this.count, mode, singles: this.#singles };
  }

  resolve(firstSeq: number): void {
    const signed = this.signed as SignedGroup;
    for (const { start, end, resolve } of this.#calls) {
      const entries: AppendedEntry[] = [];
      for (let index = start; index < end; index += 1) {
        const id = receiptId((this.drafts[index] as TimedDraft).receipt.event_id);
        entries.push(new AppendedEntry(firstSeq + index, id, signed, index));
      }
      resolve(entries);
    }
  }

  reject(error: unknown): void {
    for (const one of this.#calls) one.reject(error);
  }
}
