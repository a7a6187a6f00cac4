import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { AgUiReceipt } from "./receipt.js";
import { RECEIPT_CLASSIFICATIONS, RECEIPT_EVENT_TYPES } from "./receipt.js";
import { formatError } from "./errors.js";

type Refuse = (member: string, reason: string) => Error;

const refuseReceipt: Refuse = (member, reason) =>
  formatError("ERR_RECEIPT_MALFORMED", `receipt member ${member}: ${reason}`, {
    member,
    reason,
  });

function text(object: JsonObject, name: string, refuse: Refuse): void {
  if (typeof ownMember(object, name) !== "string") throw refuse(name, "not a string");
}

function optionalText(object: JsonObject, name: string, refuse: Refuse): void {
  const value = ownMember(object, name);
  if (value !== undefined && typeof value !== "string") throw refuse(name, "not a string");
}

function count(object: JsonObject, name: string, refuse: Refuse): void {
  const value = ownMember(object, name);
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
    throw refuse(name, "not a non-negative whole number");
  }
}

/** The checks that member tables use. */
export const memberChecks = { text, optionalText, count };

function eventType(value: JsonValue | undefined, foreign: boolean): boolean {
  if (typeof value === "string") {
    return RECEIPT_EVENT_TYPES.has(value) || (foreign && /^custom\("[^"]*"\)$/.test(value));
  }
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 1 &&
    typeof ownMember(value, "custom") === "string"
  );
}

const TEXTS = [
  "id",
  "event_id",
  "agent_id",
  "capability_id",
  "payload_hash",
  "kernel_key",
  "signature",
] as const;
const MEMBERS: ReadonlySet<string> = new Set<keyof AgUiReceipt>([
  ...TEXTS,
  "timestamp",
  "session_id",
  "event_type",
  "target",
  "classification",
  "transport",
  "allowed",
  "denial_reason",
]);

function checkTarget(target: JsonValue | undefined, foreign: boolean): void {
  if (target === undefined) return;
  if (!isJsonObject(target)) throw refuseReceipt("target", "not an object");
  text(target, "component_type", refuseReceipt);
  optionalText(target, "component_id", refuseReceipt);
  const members = Object.hasOwn(target, "component_id") ? 2 : 1;
  if (!foreign && Object.keys(target).length !== members) {
    throw refuseReceipt("target", "unknown member");
  }
}

function checkMembers(receipt: JsonObject, foreign: boolean): void {
  for (const name of TEXTS) text(receipt, name, refuseReceipt);
  optionalText(receipt, "session_id", refuseReceipt);
  optionalText(receipt, "denial_reason", refuseReceipt);
  count(receipt, "timestamp", refuseReceipt);
  if (!eventType(ownMember(receipt, "event_type"), foreign)) {
    throw refuseReceipt("event_type", "unknown type");
  }
  const classification = ownMember(receipt, "classification");
  if (typeof classification !== "string" || !RECEIPT_CLASSIFICATIONS.has(classification)) {
    throw refuseReceipt("classification", "unknown classification");
  }
  const transport = ownMember(receipt, "transport");
  if (
    transport !== "sse" &&
    transport !== "websocket" &&
    !(foreign && transport === "web_socket")
  ) {
    throw refuseReceipt("transport", "unknown transport");
  }
  const allowed = ownMember(receipt, "allowed");
  if (typeof allowed !== "boolean") throw refuseReceipt("allowed", "not a boolean");
  if (allowed === Object.hasOwn(receipt, "denial_reason")) {
    throw refuseReceipt("denial_reason", "present exactly when the event was blocked");
  }
  if (!/^[0-9a-f]{64}$/.test(String(ownMember(receipt, "payload_hash")))) {
    throw refuseReceipt("payload_hash", "not a lower-case SHA-256");
  }
  checkTarget(ownMember(receipt, "target"), foreign);
}

/** Narrows a JSON value to the receipt we emit: our encodings, no other members. */
export function assertReceipt(value: JsonValue | undefined): asserts value is AgUiReceipt {
  if (!isJsonObject(value)) throw refuseReceipt("receipt", "not an object");
  for (const name of Object.keys(value)) {
    if (!MEMBERS.has(name)) throw refuseReceipt("receipt", "unknown member");
  }
  checkMembers(value, false);
}

/**
 * Narrows a JSON value to a receipt of any issuer: Chio's encodings (`web_socket`, `custom("…")`,
 * bare hex) and other members, all of which the signature covers as received.
 */
export function assertReceivedReceipt(value: JsonValue): asserts value is JsonObject {
  if (!isJsonObject(value)) throw refuseReceipt("receipt", "not an object");
  checkMembers(value, true);
}
