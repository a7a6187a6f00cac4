import { formatError } from "../receipt/errors.js";
import { RECEIPT_CLASSIFICATIONS, RECEIPT_EVENT_TYPES } from "../receipt/receipt.js";
import type { TimedDraft } from "./draft.js";

const HASH = /^[0-9a-f]{64}$/;

function refuse(member: string, reason: string): Error {
  return formatError("ERR_RECEIPT_MALFORMED", `draft member ${member}: ${reason}`, {
    member,
    reason,
  });
}

/**
 * Refuses a draft that would make an entry no reader accepts. Once appended it could not be taken
 * back: every verification of the log would name it as broken.
 */
export function assertDraft(draft: TimedDraft): void {
  const { receipt, direction, mode, emitted_hash } = draft;
  const { event_type, transport, allowed } = receipt;
  if (direction !== "outbound" && direction !== "inbound") throw refuse("direction", "unknown");
  if (mode !== "enforce" && mode !== "observe") throw refuse("mode", "unknown");
  if (transport !== "sse" && transport !== "websocket") throw refuse("transport", "unknown");
  if (!RECEIPT_CLASSIFICATIONS.has(receipt.classification)) {
    throw refuse("classification", "unknown");
  }
  if (typeof event_type === "string" && !RECEIPT_EVENT_TYPES.has(event_type)) {
    throw refuse("event_type", "unknown");
  }
  if (typeof allowed !== "boolean") throw refuse("allowed", "not a boolean");
  if (allowed !== (receipt.denial_reason === undefined)) {
    throw refuse("denial_reason", "present exactly when the event was blocked");
  }
  if (!HASH.test(receipt.payload_hash)) throw refuse("payload_hash", "not a lower-case SHA-256");
  if (emitted_hash !== undefined && !HASH.test(emitted_hash)) {
    throw refuse("emitted_hash", "not a lower-case SHA-256");
  }
}
