import type { MintId } from "../../base/ports.js";
import { isStreamReceiptId } from "../record/receipt-chain.js";

/** The number of ids that the gateway keeps for a run; it creates the ids of any further envelopes. */
const MAX_IDS = 65_536;

/**
 * Gives each envelope of a run a unique id: its own, unless that id is taken.
 *
 * The id names the receipt and, for a native client, the message. A used id would name two receipts. The id of a message that the person
 * has would write into that message. A stream receipt id would claim a place in a client's stream.
 */
export function createEventIds(
  taken: () => Iterable<string>,
  mintId: MintId,
): (claimed: string) => string {
  // Only envelopes have ids.
  let used: Set<string> | undefined;
  return (claimed) => {
    used ??= new Set(taken());
    if (isStreamReceiptId(claimed) || used.has(claimed) || used.size >= MAX_IDS) {
      return mintId("event");
    }
    used.add(claimed);
    return claimed;
  };
}
