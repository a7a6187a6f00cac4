import { MAX_ENVELOPE_IDENTIFIER_LENGTH } from "@countersign/wire/dialects";
import type { MintId } from "../../base/ports.js";
import type { Recorder } from "../../event/recorder.js";

/** Whose id it is, and when it came. */
export type Claim = {
  readonly agent: string;
  readonly sessionId: string;
  readonly receivedAt: number;
};

/** Ids that are remembered for a log. */
const MAX_REMEMBERED = 16_384;

const logs = new WeakMap<Recorder, Map<string, number>>();

/**
 * The id under which something of an agent or a browser gets its receipt: its own, or a minted one where that would name two. Of
 * gateways that write one log none knows what the others have seen, so each puts its name behind the ids.
 */
export function claimId(log: Recorder, id: string, claim: Claim, mintId: MintId): string {
  const own = log.writer === undefined ? id : `${id}~${log.writer}`;
  const isFree = own.length <= MAX_ENVELOPE_IDENTIFIER_LENGTH && isFreeId(log, own, claim);
  return isFree ? own : mintId("event");
}

/**
 * Whether an id that an agent or a browser chose may name a receipt. A receipt has its second in it and no number: the
 * same id again in the same second, from the same session, would make the same receipt, byte for byte, and whoever
 * verifies the log would take the second entry for one that somebody put there.
 */
export function isFreeId(log: Recorder, id: string, claim: Claim, max = MAX_REMEMBERED): boolean {
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
    // As many in one second: none of them may be forgotten yet.
    if (oldest[1] >= second) return false;
    known.delete(oldest[0]);
  }
  known.set(name, second);
  return true;
}
