import type { SignedGroup, SignMode, SignRequest } from "../sign/group.js";
import { AppendedEntry } from "./appended-entry.js";
import { assertDraft } from "./check-draft.js";
import { receiptId } from "./draft.js";
import type { TimedDraft } from "./draft.js";
import { DraftLines } from "./entry-text.js";

type Settle = { resolve(entry: AppendedEntry): void; reject(error: unknown): void };

/** Appends that travel together: signed by one message, acknowledged by one flush. */
export class PendingGroup {
  readonly drafts: TimedDraft[] = [];
  /** Set when signed; until then the groups behind it wait too, so that order is kept. */
  signed: SignedGroup | undefined;
  /** Signing failed: nothing of it is written. */
  failed = false;
  readonly #lines: DraftLines;
  readonly #singles: number[] = [];
  readonly #settle: Settle[] = [];

  /** `expected` bytes of lines are made room for: those of the group before. */
  constructor(expected?: number) {
    this.#lines = new DraftLines(expected);
  }

  get count(): number {
    return this.drafts.length;
  }

  /** Adds a draft, or throws because it cannot be an entry. */
  add(draft: TimedDraft, kernelKey: string): Promise<AppendedEntry> {
    assertDraft(draft);
    this.#lines.add(draft, kernelKey);
    // A blocked event's receipt must stand alone, so it never shares a root.
    if (!draft.receipt.allowed) this.#singles.push(this.drafts.length);
    this.drafts.push(draft);
    return new Promise((resolve, reject) => {
      this.#settle.push({ resolve, reject });
    });
  }

  request(mode: SignMode): SignRequest {
    return { lines: this.#lines.take(), count: this.count, mode, singles: this.#singles };
  }

  resolve(firstSeq: number): void {
    const signed = this.signed as SignedGroup;
    this.#settle.forEach((one, index) => {
      const id = receiptId((this.drafts[index] as TimedDraft).receipt.event_id);
      one.resolve(new AppendedEntry(firstSeq + index, id, signed, index));
    });
  }

  reject(error: unknown): void {
    for (const one of this.#settle) one.reject(error);
  }
}
