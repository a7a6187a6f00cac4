import { canonicalCount, canonicalText, utf8 } from "./canonical-text.js";
import type { AgUiReceipt, AgUiReceiptBody } from "./receipt.js";

// Members in RFC 8785 order. A template instead of the general encoder because this runs once per
// event on the hot path; a property test compares it with canonicalJson.
function encodeMembers(body: AgUiReceiptBody, signature: string | undefined): string {
  const { denial_reason, event_type, session_id, target } = body;
  const type =
    typeof event_type === "string"
      ? canonicalText("event_type", event_type)
      : `{"custom":${canonicalText("event_type", event_type.custom)}}`;
  let text = `{"agent_id":${canonicalText("agent_id", body.agent_id)},"allowed":${body.allowed ? "true" : "false"},"capability_id":${canonicalText("capability_id", body.capability_id)},"classification":${canonicalText("classification", body.classification)}`;
  if (denial_reason !== undefined) {
    text += `,"denial_reason":${canonicalText("denial_reason", denial_reason)}`;
  }
  text += `,"event_id":${canonicalText("event_id", body.event_id)},"event_type":${type},"id":${canonicalText("id", body.id)},"kernel_key":${canonicalText("kernel_key", body.kernel_key)},"payload_hash":${canonicalText("payload_hash", body.payload_hash)}`;
  if (session_id !== undefined) text += `,"session_id":${canonicalText("session_id", session_id)}`;
  if (signature !== undefined) text += `,"signature":${canonicalText("signature", signature)}`;
  if (target !== undefined) {
    const id =
      target.component_id === undefined
        ? ""
        : `"component_id":${canonicalText("target", target.component_id)},`;
    text += `,"target":{${id}"component_type":${canonicalText("target", target.component_type)}}`;
  }
  return `${text},"timestamp":${canonicalCount("timestamp", body.timestamp)},"transport":${canonicalText("transport", body.transport)}}`;
}

/** Canonical JSON of the members that the signature covers; a `signature` member is omitted. */
export function encodeReceiptBody(body: AgUiReceiptBody): string {
  return encodeMembers(body, undefined);
}

/** The exact bytes that are signed: canonical JSON of the receipt without its signature. */
export function receiptBody(body: AgUiReceiptBody): Uint8Array {
  return utf8(encodeMembers(body, undefined));
}

/** Canonical JSON of the complete receipt, signature included. */
export function encodeReceipt(receipt: AgUiReceipt): string {
  return encodeMembers(receipt, receipt.signature);
}
