import type { LogEntry } from "@countersign/receipts";
import type { EventFacts } from "@countersign/policy";
import type { EntryDraft } from "@countersign/receipts/log";

/** The draft of an entry, with what the evidence store needs and the log does not have. */
export type DecisionDraft = EntryDraft & {
  readonly facts?: EventFacts;
  /** The canonical JSON of the event that the client receives instead. */
  readonly emitted_text?: string;
};

/** The place of a durable decision in the log. */
export type Recorded = {
  readonly seq: number;
  readonly id: string;
  /** The entry with its signed receipt, if the log returns it. Only a client that asks for receipts needs it. */
  readonly entry?: LogEntry;
};

/** The part of the log that the record stage uses. */
export type Recorder = {
  /** Appends the entries in this order. Resolves when every entry is durable; rejects if one entry is not. */
  appendAll(drafts: readonly DecisionDraft[]): Promise<readonly Recorded[]>;
  /**
   * Resolves when the log has room for more entries; `undefined` if it has room now. A caller that appends without waiting is rejected at
   * some point.
   */
  room?(): Promise<void> | undefined;
  /** The name of this gateway among those that write to the same log; absent if it is the only writer. */
  readonly writer?: string | undefined;
  /** Writes a harmless entry, to find out whether a store that failed works again. */
  probe?(): Promise<unknown>;
};
