import type { JsonValue } from "@countersign/core";
import { canonicalJson, isCountersignError } from "@countersign/core";
import type { SignatureVerifier } from "../note/verify-note.js";
import { utf8 } from "../receipt/canonical-text.js";
import { assertReceipt } from "../receipt/check-receipt.js";
import { payloadHash } from "../receipt/payload.js";
import type { AgUiReceipt } from "../receipt/receipt.js";
import { normalKey } from "../verify/receipt.js";
import { createReceiptSignatures } from "../verify/signature.js";
import { createStreamPlaces } from "./places.js";
import type { PlaceFault, ShownEvent } from "./places.js";

/** Why a receipt on a stream was refused. */
export type StreamFault =
  | PlaceFault
  /** It is no receipt. */
  | "format"
  /** It is about something that was blocked. */
  | "blocked"
  /** Its key is none of the trusted ones. */
  | "key"
  /** It is about another event than the one beside it. */
  | "event"
  /** It names another agent, or another session, than was asked for. */
  | "agent"
  | "session"
  /** The signature does not hold, or that of the stream's beginning does not. */
  | "signature";

/** What a reader of streams knows beforehand. */
export type StreamOptions = {
  /** Receipt keys of the gateway, `ed25519:` and hex. */
  readonly trustedKeys: readonly string[];
  /** The agent as the gateway names it, if only that one may speak. */
  readonly agent?: string;
  /** The session, where the client named it. */
  readonly session?: string;
  /** Told why a receipt was refused. */
  readonly onRefused?: (fault: StreamFault, event: ShownEvent) => void;
  /** Another Ed25519 implementation than the runtime's. */
  readonly verifySignature?: SignatureVerifier;
};

/** Decides about the receipt of one event. */
export type StreamCheck = (receipt: JsonValue, event: ShownEvent) => Promise<boolean>;

/**
 * Makes a check of the receipts that a gateway sends beside the events of its streams, for one client.
 *
 * Each receipt must be signed by a trusted key, be about the very event beside it, and stand in its place of the
 * stream that `RUN_STARTED` of the run opened. So it shows when an event was changed, left out, moved, repeated, or
 * comes from another run or session. Receipts are to be given in the order they came.
 *
 * @throws TypeError when no key is given, or one that is none
 */
export function checkReceipts(options: StreamOptions): StreamCheck {
  const trusted = trustedSet(options.trustedKeys);
  const signatures = createReceiptSignatures(options.verifySignature);
  const places = createStreamPlaces();

  /** What is wrong with a receipt, the signature left aside. */
  function faultOf(receipt: AgUiReceipt, shown: ShownEvent): StreamFault | undefined {
    const { agent, session } = options;
    if (!receipt.allowed) return "blocked";
    if (!trusted.has(receipt.kernel_key)) return "key";
    if (agent !== undefined && receipt.agent_id !== agent) return "agent";
    if (session !== undefined && receipt.session_id !== session) return "session";
    return payloadHash(shown.event) === receipt.payload_hash ? undefined : "event";
  }

  /** Synchronous up to the signature: the places are taken in the order in which the receipts came. */
  async function check(value: JsonValue, shown: ShownEvent): Promise<StreamFault | undefined> {
    try {
      assertReceipt(value);
      // Each receipt takes its place, also one that is refused for something else.
      const place = places.take(value, shown);
      const fault = faultOf(value, shown) ?? place.fault;
      const holds = fault === undefined ? isSigned(value) : Promise.resolve(false);
      place.settle(holds);
      if (fault !== undefined) return fault;
      return (await holds) && (await place.isOpened) ? undefined : "signature";
    } catch (error) {
      if (!isCountersignError(error)) throw error;
      return "format";
    }
  }

  async function isSigned(receipt: AgUiReceipt): Promise<boolean> {
    const { signature, ...body } = receipt;
    try {
      return await signatures.verify(utf8(canonicalJson(body)), receipt.kernel_key, signature);
    } catch (error) {
      if (!isCountersignError(error)) throw error;
      return false;
    }
  }

  return async (receipt, shown) => {
    const fault = await check(receipt, shown);
    if (fault !== undefined) options.onRefused?.(fault, shown);
    return fault === undefined;
  };
}

function trustedSet(keys: readonly string[]): ReadonlySet<string> {
  if (keys.length === 0) throw new TypeError("receipts can only be checked with a trusted key");
  try {
    return new Set(keys.map(normalKey));
  } catch {
    throw new TypeError("a trusted key is ed25519: and 64 hex digits");
  }
}
