import { CLASSIFICATIONS, PLAIN_EVENT_TYPES } from "@countersign/core";
import type { Classification, NamedEventType } from "@countersign/core";

/** The target component of an event. */
export type ReceiptTarget = { component_type: string; component_id?: string };

/** The transport of the event. Chio's own code spells the second one `web_socket`. */
export type ReceiptTransport = "sse" | "websocket";

/** The members that the signature covers. */
export type AgUiReceiptBody = {
  /** `agui-` and the event id. */
  id: string;
  /** The timestamp of the event, unix seconds. */
  timestamp: number;
  event_id: string;
  agent_id: string;
  session_id?: string;
  /** `<none>` when no capability was presented. */
  capability_id: string;
  event_type: NamedEventType;
  target?: ReceiptTarget;
  classification: Classification;
  transport: ReceiptTransport;
  allowed: boolean;
  /** Present exactly when the event was blocked. */
  denial_reason?: string;
  /** Lower-case hex SHA-256 of the canonical JSON of the payload. */
  payload_hash: string;
  /** `ed25519:` and the signer's public key in hex. */
  kernel_key: string;
};

/** A signed decision about one event, `chio.ag-ui-receipt.v1` as we emit it. */
export type AgUiReceipt = AgUiReceiptBody & {
  /** `ed25519:` and 128 hex digits, or `ed25519-batch:` (docs/receipts/batch-signature.md). */
  signature: string;
};

/** The value of `capability_id` when no capability was presented. */
export const NO_CAPABILITY = "<none>";

/** The closed vocabulary of `classification`. */
export const RECEIPT_CLASSIFICATIONS: ReadonlySet<string> = new Set(CLASSIFICATIONS);

/** The plain (not custom) vocabulary of `event_type`. */
export const RECEIPT_EVENT_TYPES: ReadonlySet<string> = new Set(PLAIN_EVENT_TYPES);
