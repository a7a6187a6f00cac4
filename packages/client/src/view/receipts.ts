import { assertWithin } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { BLOCKED_NAME } from "./notice.js";

/** The CUSTOM event that carries the receipt of the event before it. */
export const RECEIPT_NAME = "countersign.receipt";

/**
 * The receipt of the next event: nothing may follow the end of a run, so its receipt comes first.
 */
export const RECEIPT_AHEAD_NAME = "countersign.receipt_ahead";

/** Receipts that may wait for their verifier at once. */
const MAX_WAITING = 10_000;

/** The event and the run of a receipt. */
export type ReceiptContext = {
  /** The event the receipt is about. */
  readonly event: AgUiEvent;
  /** The requested run. */
  readonly threadId: string;
  readonly runId: string;
};

/** Verifies one receipt. Any result but `true` refuses it, also an error or a rejected promise. */
export type VerifyReceipt = (
  receipt: JsonValue,
  context: ReceiptContext,
) => boolean | Promise<boolean>;

/** The number of receipts by result. */
export type ReceiptCounts = {
  readonly verified: number;
  /** Receipts that are invalid, or that belong to no event. */
  readonly refused: number;
  readonly waiting: number;
  /** Events without a receipt; the gateway's own notices do not need one. */
  readonly missing: number;
};

/** No receipt came yet. */
export const NO_RECEIPTS: ReceiptCounts = Object.freeze({
  verified: 0,
  refused: 0,
  waiting: 0,
  missing: 0,
});

type RunIds = { readonly threadId: string; readonly runId: string };

/** Assigns receipts to their events and verifies them. */
export type ReceiptTracker = {
  /** @throws CountersignError `ERR_LIMIT_EXCEEDED` when too many wait for the verifier */
  push(event: AgUiEvent, ids: RunIds): void;
  /** Begins another stream and settles the open receipt of the previous one. */
  begin(): void;
};

/**
 * Creates a tracker. It calls `changed` with the new counts and with `isFault`: a refused receipt,
 * or an event without one. A RUN_ERROR without a receipt is counted and is not a fault, because the
 * run has failed anyway.
 *
 * The tracker verifies in the order of the events, once per event. It refuses a receipt without an
 * event, or for an event that has one, without calling the verifier.
 */
export function createReceiptTracker(
  verify: VerifyReceipt,
  changed: (counts: ReceiptCounts, isFault: boolean) => void,
): ReceiptTracker {
  let counts = NO_RECEIPTS;
  /** The previous event, while it has no receipt. */
  let unsigned: AgUiEvent | undefined;
  /** A receipt whose event has not arrived. */
  let ahead: { readonly receipt: JsonValue } | undefined;

  function count(part: Partial<ReceiptCounts>, isFault: boolean): void {
    counts = { ...counts, ...part };
    changed(counts, isFault);
  }

  async function runVerifier(receipt: JsonValue, context: ReceiptContext): Promise<void> {
    let good = false;
    try {
      good = (await verify(receipt, context)) === true;
    } catch {
      // Undecided means refused.
    }
    const waiting = counts.waiting - 1;
    if (good) count({ waiting, verified: counts.verified + 1 }, false);
    else count({ waiting, refused: counts.refused + 1 }, true);
  }

  function enqueue(receipt: JsonValue, event: AgUiEvent, { threadId, runId }: RunIds): void {
    assertWithin("maxWaitingReceipts", counts.waiting + 1, MAX_WAITING);
    count({ waiting: counts.waiting + 1 }, false);
    void runVerifier(receipt, { event, threadId, runId });
  }

  /** The previous event can no longer get a receipt. */
  function closeUnsigned(): void {
    if (unsigned === undefined) return;
    const isFault = unsigned.type !== "RUN_ERROR";
    unsigned = undefined;
    count({ missing: counts.missing + 1 }, isFault);
  }

  function refuse(): void {
    count({ refused: counts.refused + 1 }, true);
  }

  function takeReceipt(receipt: JsonValue, ids: RunIds): void {
    const about = unsigned;
    unsigned = undefined;
    if (about === undefined) refuse();
    else enqueue(receipt, about, ids);
  }

  function takeAhead(receipt: JsonValue): void {
    closeUnsigned();
    if (ahead !== undefined) refuse();
    ahead = { receipt };
  }

  function takeEvent(event: AgUiEvent, ids: RunIds): void {
    closeUnsigned();
    if (ahead === undefined) unsigned = event;
    else {
      const { receipt } = ahead;
      ahead = undefined;
      enqueue(receipt, event, ids);
    }
    if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") closeUnsigned();
  }

  return {
    push(event, ids) {
      const name = event.type === "CUSTOM" ? event.name : undefined;
      if (event.type === "CUSTOM" && name === RECEIPT_NAME) takeReceipt(event.value, ids);
      else if (event.type === "CUSTOM" && name === RECEIPT_AHEAD_NAME) takeAhead(event.value);
      else if (name !== BLOCKED_NAME) takeEvent(event, ids);
    },
    begin() {
      // On a broken connection the receipt may have been in flight.
      if (unsigned !== undefined) count({ missing: counts.missing + 1 }, false);
      unsigned = undefined;
      ahead = undefined;
    },
  };
}
