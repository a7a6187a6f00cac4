import { assertWithin } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { BLOCKED_NAME } from "./notice.js";

/** The CUSTOM event that carries the receipt of the event before it. */
export const RECEIPT_NAME = "countersign.receipt";

/** The same about the event behind it: nothing may follow the end of a run, so its receipt comes first. */
export const RECEIPT_AHEAD_NAME = "countersign.receipt_ahead";

/** Receipts that may wait for their verifier at once. */
const MAX_WAITING = 10_000;

/** What a receipt is about. */
export type ReceiptContext = {
  /** The event beside it. */
  readonly event: AgUiEvent;
  /** The run that was asked for. */
  readonly threadId: string;
  readonly runId: string;
};

/** Decides about one receipt. Whatever is not `true`, an error and a promise that fails included, refuses it. */
export type VerifyReceipt = (
  receipt: JsonValue,
  context: ReceiptContext,
) => boolean | Promise<boolean>;

/** How many receipts came and what was found. */
export type ReceiptCounts = {
  readonly verified: number;
  /** Receipts that do not hold, or that are about nothing. */
  readonly refused: number;
  readonly waiting: number;
  /** Events without a receipt; what a gateway tells about its own blocks is not counted. */
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

/** Puts receipts beside their events and has them verified. */
export type ReceiptTracker = {
  /** @throws CountersignError `ERR_LIMIT_EXCEEDED` when too many wait for the verifier */
  push(event: AgUiEvent, ids: RunIds): void;
  /** Another stream begins: what the one before left open is settled. */
  begin(): void;
};

/**
 * Watches a conversation; `changed` is called whenever the counts change, with whether that is a fault: a
 * receipt that was refused, or an event without one. An error without a receipt is counted and no fault: the run
 * has failed by it, whoever said so.
 *
 * The verifier is asked in the order of the events, and of each event once: a receipt that is beside none, or
 * beside one that has its receipt already, is refused without asking.
 */
export function createReceiptTracker(
  verify: VerifyReceipt,
  changed: (counts: ReceiptCounts, isFault: boolean) => void,
): ReceiptTracker {
  let counts = NO_RECEIPTS;
  /** The event before, as long as it has no receipt. */
  let bare: AgUiEvent | undefined;
  /** A receipt whose event has not come. */
  let ahead: { readonly receipt: JsonValue } | undefined;

  function count(part: Partial<ReceiptCounts>, isFault: boolean): void {
    counts = { ...counts, ...part };
    changed(counts, isFault);
  }

  async function judge(receipt: JsonValue, context: ReceiptContext): Promise<void> {
    let good = false;
    try {
      good = (await verify(receipt, context)) === true;
    } catch {
      // Undecided is refused.
    }
    const waiting = counts.waiting - 1;
    if (good) count({ waiting, verified: counts.verified + 1 }, false);
    else count({ waiting, refused: counts.refused + 1 }, true);
  }

  function ask(receipt: JsonValue, event: AgUiEvent, { threadId, runId }: RunIds): void {
    assertWithin("maxWaitingReceipts", counts.waiting + 1, MAX_WAITING);
    count({ waiting: counts.waiting + 1 }, false);
    void judge(receipt, { event, threadId, runId });
  }

  /** Whatever comes next, the event before can have no receipt any more. */
  function closeBare(): void {
    if (bare === undefined) return;
    const isFault = bare.type !== "RUN_ERROR";
    bare = undefined;
    count({ missing: counts.missing + 1 }, isFault);
  }

  function refuse(): void {
    count({ refused: counts.refused + 1 }, true);
  }

  function takeReceipt(receipt: JsonValue, ids: RunIds): void {
    const about = bare;
    bare = undefined;
    if (about === undefined) refuse();
    else ask(receipt, about, ids);
  }

  function takeAhead(receipt: JsonValue): void {
    closeBare();
    if (ahead !== undefined) refuse();
    ahead = { receipt };
  }

  function takeEvent(event: AgUiEvent, ids: RunIds): void {
    closeBare();
    if (ahead === undefined) bare = event;
    else {
      const { receipt } = ahead;
      ahead = undefined;
      ask(receipt, event, ids);
    }
    if (event.type === "RUN_FINISHED" || event.type === "RUN_ERROR") closeBare();
  }

  return {
    push(event, ids) {
      const name = event.type === "CUSTOM" ? event.name : undefined;
      if (event.type === "CUSTOM" && name === RECEIPT_NAME) takeReceipt(event.value, ids);
      else if (event.type === "CUSTOM" && name === RECEIPT_AHEAD_NAME) takeAhead(event.value);
      else if (name !== BLOCKED_NAME) takeEvent(event, ids);
    },
    begin() {
      // Where the line was cut, the receipt may well have been on its way.
      if (bare !== undefined) count({ missing: counts.missing + 1 }, false);
      bare = undefined;
      ahead = undefined;
    },
  };
}
