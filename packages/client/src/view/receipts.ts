import { assertWithin, ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";

/** The CUSTOM event that carries the receipt of the event before it. */
export const RECEIPT_NAME = "countersign.receipt";

/** The member of a run event's metadata under which a gateway keeps its own. */
const VENDOR_KEY = "countersign";

/** Receipts that may wait for their verifier at once. */
const MAX_WAITING = 1000;

/** What is known about a receipt beside itself. */
export type ReceiptContext = {
  /** The event that the receipt is about, when it came on this stream. */
  readonly event?: AgUiEvent;
  readonly threadId: string;
  readonly runId: string;
};

/** Decides about one receipt. Whatever is not `true`, an error and a promise that fails included, refuses it. */
export type VerifyReceipt = (
  receipt: JsonValue,
  context: ReceiptContext,
) => boolean | Promise<boolean>;

/** How many receipts came and what was found. */
export type ReceiptTally = {
  readonly verified: number;
  readonly refused: number;
  readonly waiting: number;
};

/** No receipt came yet. */
export const NO_RECEIPTS: ReceiptTally = Object.freeze({ verified: 0, refused: 0, waiting: 0 });

/** Finds receipts in events and has them verified. */
export type ReceiptWatch = {
  /** @throws CountersignError `ERR_LIMIT_EXCEEDED` when too many wait for the verifier */
  push(event: AgUiEvent, ids: { threadId: string; runId: string }): void;
};

/** Watches a conversation; `changed` is called whenever the tally is another one. */
export function createReceiptWatch(
  verify: VerifyReceipt,
  changed: (tally: ReceiptTally) => void,
): ReceiptWatch {
  let tally = NO_RECEIPTS;
  let subject: AgUiEvent | undefined;

  function count(part: Partial<ReceiptTally>): void {
    tally = { ...tally, ...part };
    changed(tally);
  }

  async function judge(receipt: JsonValue, context: ReceiptContext): Promise<void> {
    let good = false;
    try {
      good = (await verify(receipt, context)) === true;
    } catch {
      // Undecided is refused.
    }
    const waiting = tally.waiting - 1;
    count(
      good ? { waiting, verified: tally.verified + 1 } : { waiting, refused: tally.refused + 1 },
    );
  }

  return {
    push(event, ids) {
      const found = receiptOf(event);
      if (found !== undefined) {
        assertWithin("maxWaitingReceipts", tally.waiting + 1, MAX_WAITING);
        count({ waiting: tally.waiting + 1 });
        const about = event.type === "CUSTOM" ? subject : undefined;
        void judge(found, { ...ids, ...(about === undefined ? {} : { event: about }) });
      }
      if (event.type !== "CUSTOM" || event.name !== RECEIPT_NAME) subject = event;
    },
  };
}

/**
 * The receipt in an event: the value of our CUSTOM event, or a member of a run event's metadata. No other
 * metadata is searched, because clients fold it into messages and send it back to the agent.
 */
function receiptOf(event: AgUiEvent): JsonValue | undefined {
  if (event.type === "CUSTOM") return event.name === RECEIPT_NAME ? event.value : undefined;
  if (!event.type.startsWith("RUN_")) return undefined;
  return ownMember(ownMember(event.metadata, VENDOR_KEY), "receipt");
}
