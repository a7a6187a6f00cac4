import { canonicalCount, canonicalText } from "../receipt/canonical-text.js";
import { encodeFurtherRules } from "../entry/encode-entry.js";
import { MAX_FURTHER_RULES } from "../entry/entry.js";
import { formatError } from "../receipt/errors.js";
import type { ReceiptDraft } from "../entry/draft.js";
import { RECEIPT_CLASSIFICATIONS, RECEIPT_EVENT_TYPES } from "../receipt/receipt.js";
import type { EntryDraft } from "../entry/draft.js";

// The parts of an entry's canonical JSON between the values that change with every event. Each part
// checks its own members: a draft that no reader accepts must never be signed, since every later
// verification would report that entry.

const HASH = /^[0-9a-f]{64}$/;

function refuse(member: string, reason: string): Error {
  return formatError("ERR_RECEIPT_MALFORMED", `draft member ${member}: ${reason}`, {
    member,
    reason,
  });
}

function text(member: string, value: unknown): string {
  if (typeof value !== "string") throw refuse(member, "not a string");
  return canonicalText(member, value);
}

function optional(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${text(name, value)}`;
}

/** A lower-case SHA-256, or an error that names the member. */
export function hashText(member: string, value: unknown): string {
  if (typeof value !== "string" || !HASH.test(value)) {
    throw refuse(member, "not a lower-case SHA-256");
  }
  return value;
}

/** The escaped string without its quotes. */
export function innerText(member: string, value: unknown): string {
  return text(member, value).slice(1, -1);
}

/** The entry up to its receipt. */
export function entryHead(draft: EntryDraft): string {
  const { direction, mode, emitted_hash, further_rules: rules } = draft;
  if (direction !== "outbound" && direction !== "inbound") throw refuse("direction", "unknown");
  if (mode !== "enforce" && mode !== "observe") throw refuse("mode", "unknown");
  const emitted =
    emitted_hash === undefined ? "" : `,"emitted_hash":"${hashText("emitted_hash", emitted_hash)}"`;
  const further = rules === undefined ? "" : `,"further_rules":${furtherRules(rules)}`;
  const address = optional("client_address", draft.client_address);
  return `{${address === "" ? "" : `${address.slice(1)},`}"direction":"${direction}"${emitted}${further},"mode":"${mode}"${optional("path", draft.path)},"policy_hash":${text("policy_hash", draft.policy_hash)}${optional("principal", draft.principal)},"receipt":`;
}

function furtherRules(rules: readonly string[]): string {
  const isFine =
    rules.length > 0 &&
    rules.length <= MAX_FURTHER_RULES &&
    rules.every((rule) => typeof rule === "string");
  if (!isFine) throw refuse("further_rules", `not a list of 1 to ${MAX_FURTHER_RULES} strings`);
  return encodeFurtherRules(rules);
}

type ReceiptParts = Omit<ReceiptDraft, "payload_hash">;

/** The receipt up to the value of `event_id`. */
export function receiptHead(receipt: ReceiptParts): string {
  const { allowed, classification, denial_reason } = receipt;
  if (!RECEIPT_CLASSIFICATIONS.has(classification)) throw refuse("classification", "unknown");
  if (typeof allowed !== "boolean") throw refuse("allowed", "not a boolean");
  if (allowed !== (denial_reason === undefined)) {
    throw refuse("denial_reason", "present exactly when the event was blocked");
  }
  return `{"agent_id":${text("agent_id", receipt.agent_id)},"allowed":${allowed ? "true" : "false"},"capability_id":${text("capability_id", receipt.capability_id)},"classification":"${classification}"${optional("denial_reason", denial_reason)},"event_id":"`;
}

function typeText(type: ReceiptParts["event_type"]): string {
  if (typeof type !== "string") return `{"custom":${text("event_type", type.custom)}}`;
  if (!RECEIPT_EVENT_TYPES.has(type)) throw refuse("event_type", "unknown");
  return `"${type}"`;
}

/** The receipt from after the value of `event_id` to its second occurrence, in `id`. */
export function eventType(type: ReceiptParts["event_type"]): string {
  return `","event_type":${typeText(type)},"id":"agui-`;
}

/** The receipt from after the payload hash to the signature: `session_id`, when present. */
export function sessionPart(session: string | undefined): string {
  return `"${optional("session_id", session)}`;
}

/** The receipt after the value of its signature. */
export function receiptTail(receipt: ReceiptParts): string {
  const { target, transport } = receipt;
  if (transport !== "sse" && transport !== "websocket") throw refuse("transport", "unknown");
  let part = "";
  if (target !== undefined) {
    const id =
      target.component_id === undefined
        ? ""
        : `"component_id":${text("target", target.component_id)},`;
    part = `,"target":{${id}"component_type":${text("target", target.component_type)}}`;
  }
  return `"${part},"timestamp":${canonicalCount("timestamp", receipt.timestamp)},"transport":"${transport}"}`;
}

/** The entry from after its receipt to the value of `seq`. */
export function entryTail(draft: EntryDraft, receivedAt: number): string {
  return `,"received_at":${canonicalCount("received_at", receivedAt)}${optional("rule", draft.rule)}${optional("run_id", draft.run_id)},"seq":`;
}

/** The entry after `seq`. */
export function entryEnd({ thread_id, tool }: EntryDraft): string {
  return `${optional("thread_id", thread_id)}${optional("tool", tool)}}`;
}
