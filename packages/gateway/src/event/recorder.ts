import type { LogEntry } from "@countersign/receipts";
import type { EntryDraft } from "@countersign/receipts/log";

/** Where a decision stands in the log, once it is durable. */
export type Recorded = {
  readonly seq: number;
  readonly id: string;
  /** The entry with its signed receipt, of a log that gives it; only a client that asks for receipts needs it. */
  readonly entry?: LogEntry;
};

/** What the record stage needs of a log. */
export type Recorder = {
  /** Appends in this order. Resolves once, when every entry is durable; rejects when one of them is not. */
  appendAll(drafts: readonly EntryDraft[]): Promise<readonly Recorded[]>;
  /**
   * Waits while more is on its way to the log than it should be asked to take; `undefined` when there is
   * room. Whoever goes on asking without waiting is refused at some point.
   */
  room?(): Promise<void> | undefined;
  /** This gateway's name among those that write the same log; none where it is the only one. */
  readonly writer?: string | undefined;
  /** Writes something harmless, to find out whether a store that failed is back. */
  probe?(): Promise<unknown>;
};
