import type { LogEntry } from "../entry/entry.js";
import type { AgUiReceiptBody } from "../receipt/receipt.js";

/** What the caller knows of a receipt; the log adds `id`, `kernel_key` and `signature`. */
export type ReceiptDraft = Omit<AgUiReceiptBody, "id" | "kernel_key">;

/** What the caller knows of an entry; the log adds `seq`, signs the receipt and may stamp the time. */
export type EntryDraft = Omit<LogEntry, "seq" | "receipt" | "received_at"> & {
  readonly receipt: ReceiptDraft;
  /** Left out, the log's own clock is asked. */
  readonly received_at?: number;
};

/** A draft with its time settled: what stores take their index columns from. */
export type TimedDraft = EntryDraft & { readonly received_at: number };

/** The id of the receipt about an event (Chio's rule). */
export function receiptId(eventId: string): string {
  return `agui-${eventId}`;
}
