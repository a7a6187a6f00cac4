import { MAX_ENVELOPE_IDENTIFIER_LENGTH } from "@countersign/wire/dialects";
import type { MintId } from "../../base/ports.js";
import type { Recorder } from "../../event/recorder.js";
import { isStreamReceiptId } from "../record/receipt-chain.js";

/** The agent and session that sent an id, and the time. */
export type Claim = {
  readonly agent: string;
  readonly sessionId: string;
  readonly receivedAt: number;
};

/** The number of ids that the gateway keeps for a log. */
const MAX_LOG_IDS = 16_384;

const logs = new WeakMap<Recorder, Map<string, number>>();

/**
 * The id for the receipt of an agent's or a browser's event: its own id, or a new one if two receipts would have the same. Gateways that
 * share a log do not know each other's ids, so each appends its name.
 */
export function claimId(log: Recorder, id: string, claim: Claim, mintId: MintId): string {
  const own = log.writer === undefined ? id : `${id}~${log.writer}`;
  const isFree = own.length <= MAX_ENVELOPE_IDENTIFIER_LENGTH && isFreeId(log, own, claim);
  return isFree ? own : mintId("event");
}

/**
 * Whether an id that an agent or a browser chose may name a receipt.
 *
 * A receipt contains its second and no number. The same id in the same second and session would produce the same receipt, byte for byte,
 * and a verifier of the log would take the second entry for a forgery.
 */
export function isFreeId(log: Recorder, id: string, claim: Claim, max = MAX_LOG_IDS): boolean {
  let known = logs.get(log);
  if (known === undefined) {
    known = new Map();
    logs.set(log, known);
  }
  const name = `${claim.agent}\0${claim.sessionId}\0${id}`;
  const second = Math.floor(claim.receivedAt / 1000);
  if ((known.get(name) ?? -1) >= second) return false;
  known.delete(name);
  const [oldest] = known.size >= max ? known : [];
  if (oldest !== undefined) {
    // All kept ids are from this second, so none may be dropped yet.
    if (oldest[1] >= second) return false;
    known.delete(oldest[0]);
  }
  known.set(name, second);
  return true;
}

/** The number of ids that the gateway keeps for a run; it creates the ids of any further envelopes. */
const MAX_RUN_IDS = 65_536;

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
    if (isStreamReceiptId(claimed) || used.has(claimed) || used.size >= MAX_RUN_IDS) {
      return mintId("event");
    }
    used.add(claimed);
    return claimed;
  };
}
