import type { LogEntry } from "./entry.js";
import type { AgUiReceiptBody } from "../receipt/receipt.js";

/**
 * The members of a receipt that the caller provides; the log adds `id`, `kernel_key` and
 * `signature`.
 */
export type ReceiptDraft = Omit<AgUiReceiptBody, "id" | "kernel_key">;

type DraftMembers = Omit<LogEntry, "seq" | "receipt" | "received_at"> & {
  /** Default: the time of the log's clock. */
  readonly received_at?: number;
};

/** A draft whose caller has hashed the payload. */
export type HashedDraft = DraftMembers & {
  readonly receipt: ReceiptDraft;
  readonly payload_text?: undefined;
};

/**
 * A draft with the payload itself, as canonical JSON, so that the caller does not hash it. The text
 * goes to the signing thread and is not kept. Canonical form is not verified; only text that
 * canonical JSON cannot contain (a line feed, a lone surrogate) is rejected.
 */
export type TextDraft = DraftMembers & {
  readonly receipt: Omit<ReceiptDraft, "payload_hash"> & { readonly payload_hash?: undefined };
  readonly payload_text: string;
};

/**
 * The members of an entry that the caller provides; the log adds `seq`, signs the receipt and may
 * set the time. Do not change a draft until its append settles.
 */
export type EntryDraft = HashedDraft | TextDraft;

/** A draft with its time set; stores read their index columns from it. */
export type TimedDraft = EntryDraft & { readonly received_at: number };

/** The id of the receipt about an event (Chio's rule). */
export function receiptId(eventId: string): string {
  return `agui-${eventId}`;
}
