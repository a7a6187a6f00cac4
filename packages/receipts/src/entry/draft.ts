import type { LogEntry } from "./entry.js";
import type { AgUiReceiptBody } from "../receipt/receipt.js";

/** What the caller knows of a receipt; the log adds `id`, `kernel_key` and `signature`. */
export type ReceiptDraft = Omit<AgUiReceiptBody, "id" | "kernel_key">;

type DraftMembers = Omit<LogEntry, "seq" | "receipt" | "received_at"> & {
  /** Left out, the log's own clock is asked. */
  readonly received_at?: number;
};

/** A draft whose caller has hashed the payload. */
export type HashedDraft = DraftMembers & {
  readonly receipt: ReceiptDraft;
  readonly payload_text?: undefined;
};

/**
 * A draft that brings the payload itself, as canonical JSON, so that hashing it is not the caller's
 * work. The text goes as far as the signing thread and is forgotten there; nobody checks that it is
 * canonical, beyond refusing what canonical JSON cannot hold (a line feed, a lone surrogate).
 */
export type TextDraft = DraftMembers & {
  readonly receipt: Omit<ReceiptDraft, "payload_hash"> & { readonly payload_hash?: undefined };
  readonly payload_text: string;
};

/**
 * What the caller knows of an entry; the log adds `seq`, signs the receipt and may stamp the time.
 * A draft is not to be changed until its append settles.
 */
export type EntryDraft = HashedDraft | TextDraft;

/** A draft with its time settled: what stores take their index columns from. */
export type TimedDraft = EntryDraft & { readonly received_at: number };

/** The id of the receipt about an event (Chio's rule). */
export function receiptId(eventId: string): string {
  return `agui-${eventId}`;
}
