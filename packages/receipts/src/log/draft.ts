import { sha256Hex } from "@countersign/core";
import type { LogEntry } from "../entry/entry.js";
import { formatError } from "../receipt/errors.js";
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

type Settled<Value> = { readonly [Member in keyof Value]: Value[Member] | undefined };

/** A draft with its time settled: what stores take their index columns from. */
export type TimedDraft = Pick<LogEntry, "direction" | "mode" | "policy_hash" | "received_at"> &
  Settled<Pick<LogEntry, "run_id" | "thread_id" | "rule" | "emitted_hash">> & {
    readonly receipt: ReceiptDraft;
  };

/**
 * Settles the time of a draft. Written out member by member: objects made by spreading get a hidden
 * class of their own each, and every later read of them then takes the slow path (5 µs an append).
 */
export function settleDraft(draft: EntryDraft, clock: () => number): TimedDraft {
  return {
    direction: draft.direction,
    mode: draft.mode,
    policy_hash: draft.policy_hash,
    received_at: draft.received_at ?? clock(),
    run_id: draft.run_id,
    thread_id: draft.thread_id,
    rule: draft.rule,
    emitted_hash: draft.emitted_hash,
    receipt:
      draft.payload_text === undefined
        ? draft.receipt
        : { ...draft.receipt, payload_hash: hashOfText(draft.payload_text) },
  };
}

function hashOfText(text: string): string {
  if (text.includes("\n") || /\p{Surrogate}/u.test(text)) {
    const facts = { member: "payload_text", reason: "not canonical JSON" };
    throw formatError("ERR_RECEIPT_MALFORMED", "payload_text is not canonical JSON", facts);
  }
  return sha256Hex(text);
}

/** The id of the receipt about an event (Chio's rule). */
export function receiptId(eventId: string): string {
  return `agui-${eventId}`;
}
