import { canonicalCount, canonicalText, utf8 } from "./canonical-text.js";
import type { AgUiReceipt, AgUiReceiptBody } from "./receipt.js";

// Members in RFC 8785 order. A template instead of the general encoder because this runs once per
// event on the hot path; a property test compares it with canonicalJson.
function encodeMembers(body: AgUiReceiptBody, signature: string | undefined): string {
  const { event_type, target } = body;
  const text = (name: TextMember): string =>
    `,"${name}":${canonicalText(name, body[name] as string)}`;
  const optional = (name: TextMember): string => (body[name] === undefined ? "" : text(name));
  const type =
    typeof event_type === "string"
      ? canonicalText("event_type", event_type)
      : `{"custom":${canonicalText("event_type", event_type.custom)}}`;
  const signed =
    signature === undefined ? "" : `,"signature":${canonicalText("signature", signature)}`;
  let place = "";
  if (target !== undefined) {
    const id =
      target.component_id === undefined
        ? ""
        : `"component_id":${canonicalText("target", target.component_id)},`;
    place = `,"target":{${id}"component_type":${canonicalText("target", target.component_type)}}`;
  }
  const members =
    `${text("agent_id")},"allowed":${body.allowed ? "true" : "false"}${text("capability_id")}` +
    `${text("classification")}${optional("denial_reason")}${text("event_id")},"event_type":${type}` +
    `${text("id")}${text("kernel_key")}${text("payload_hash")}${optional("session_id")}${signed}` +
    `${place},"timestamp":${canonicalCount("timestamp", body.timestamp)}${text("transport")}`;
  return `{${members.slice(1)}}`;
}

type TextMember = Exclude<keyof AgUiReceiptBody, "allowed" | "event_type" | "target" | "timestamp">;

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
