import type { MintId } from "../../base/ports.js";
import { isStreamReceiptId } from "../record/stream-receipt-id.js";

/** Ids that are remembered; an agent that sends more has the rest of them minted for it. */
const MAX_REMEMBERED = 65_536;

/**
 * Gives each envelope of a run an id of its own: the one it came with, unless that is taken.
 *
 * The id names the receipt and, for a native client, the message. One that was used before would give two
 * receipts one name; that of a message the person already has would write into that message; that of a place in a
 * client's stream would get a receipt for what is not there.
 */
export function createEventIds(
  taken: () => Iterable<string>,
  mintId: MintId,
): (claimed: string) => string {
  // Only envelopes bring ids.
  let used: Set<string> | undefined;
  return (claimed) => {
    used ??= new Set(taken());
    if (isStreamReceiptId(claimed) || used.has(claimed) || used.size >= MAX_REMEMBERED) {
      return mintId("event");
    }
    used.add(claimed);
    return claimed;
  };
}
