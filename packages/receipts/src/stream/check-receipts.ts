import type { JsonValue } from "@countersign/core";
import { canonicalJson, isCountersignError } from "@countersign/core";
import type { SignatureVerifier } from "../note/verify-note.js";
import { utf8 } from "../receipt/canonical-text.js";
import { assertReceipt } from "../receipt/check-receipt.js";
import { payloadHash } from "../receipt/payload.js";
import type { AgUiReceipt } from "../receipt/receipt.js";
import { normalKey } from "../verify/receipt.js";
import { createReceiptSignatures } from "../verify/signature.js";
import { createStreamPositions } from "./positions.js";
import type { PositionFault, ReceivedEvent } from "./positions.js";

/** Why a receipt on a stream was refused. */
export type StreamFault =
  | PositionFault
  /** It is not a receipt. */
  | "format"
  /** It is about a blocked event. */
  | "blocked"
  /** Its key is not trusted. */
  | "key"
  /** It is about another event. */
  | "event"
  /** It names another agent or another session than requested. */
  | "agent"
  | "session"
  /** Its signature, or that of the stream's first receipt, is invalid. */
  | "signature";

/** Options of {@link checkReceipts}. */
export type StreamOptions = {
  /** Receipt keys of the gateway, `ed25519:` and hex. */
  readonly trustedKeys: readonly string[];
  /** The agent's name at the gateway, if only that agent is expected. */
  readonly agent?: string;
  /** The session, if the client set it. */
  readonly session?: string;
  /** Called with the reason when a receipt is refused. */
  readonly onRefused?: (fault: StreamFault, event: ReceivedEvent) => void;
  /** Replaces the Ed25519 implementation of the runtime. */
  readonly verifySignature?: SignatureVerifier;
};

/** Checks the receipt of one event. */
export type StreamCheck = (receipt: JsonValue, event: ReceivedEvent) => Promise<boolean>;

/**
 * Creates a check of the receipts that a gateway sends beside the events of its streams, for one
 * client.
 *
 * Each receipt must be signed by a trusted key, match the event beside it, and have the next
 * position in the stream that the `RUN_STARTED` of the run opened. This detects events that were
 * changed, removed, reordered or repeated, or come from another run or session. Pass the receipts
 * in the order of arrival.
 *
 * @throws TypeError without a key, or with an invalid one
 */
export function checkReceipts(options: StreamOptions): StreamCheck {
  const trusted = trustedSet(options.trustedKeys);
  const signatures = createReceiptSignatures(options.verifySignature);
  const positions = createStreamPositions();

  /** Why a receipt is refused, apart from its signature. */
  function faultOf(receipt: AgUiReceipt, received: ReceivedEvent): StreamFault | undefined {
    const { agent, session } = options;
    if (!receipt.allowed) return "blocked";
    if (!trusted.has(receipt.kernel_key)) return "key";
    if (agent !== undefined && receipt.agent_id !== agent) return "agent";
    if (session !== undefined && receipt.session_id !== session) return "session";
    return payloadHash(received.event) === receipt.payload_hash ? undefined : "event";
  }

  /** Synchronous up to the signature: positions are assigned in the order of arrival. */
  async function check(
    value: JsonValue,
    received: ReceivedEvent,
  ): Promise<StreamFault | undefined> {
    try {
      assertReceipt(value);
      // Each receipt takes its position, even if it is refused for another reason.
      const position = positions.take(value, received);
      const fault = faultOf(value, received) ?? position.fault;
      const holds = fault === undefined ? isSigned(value) : Promise.resolve(false);
      position.settle(holds);
      if (fault !== undefined) return fault;
      return (await holds) && (await position.isOpened) ? undefined : "signature";
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

  return async (receipt, received) => {
    const fault = await check(receipt, received);
    if (fault !== undefined) options.onRefused?.(fault, received);
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
