import type { EntryDraft } from "@countersign/receipts/log";

/** What the record stage needs of a log: an append that resolves when the entry is durable. */
export type Recorder = {
  append(draft: EntryDraft): Promise<{ readonly seq: number; readonly id: string }>;
  /** Writes something harmless, to find out whether a store that failed is back. */
  probe?(): Promise<unknown>;
};
