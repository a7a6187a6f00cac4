import { hexDigits } from "../receipt/hex-pattern.js";
import { RECEIPT_CLASSIFICATIONS, RECEIPT_EVENT_TYPES } from "../receipt/receipt.js";

// No class contains its closing quote, so a match is one linear pass.
const TEXT = "[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*";
const HASH = hexDigits(64);
/** Fifteen digits are always a safe integer; the general decoder handles longer numbers. */
const COUNT = "0|[1-9]\\d{0,14}";

/**
 * The regular expression of a plain entry: canonical, so its members have one order, and printable
 * ASCII without escapes, like almost all entries. `take` makes a group of each value and of the
 * parts `head` (everything before the receipt), `receipt` and `before` (the receipt up to its
 * signature).
 */
export function plainEntryPattern(take: (name: string, pattern: string) => string): string {
  const text = (name: string): string => `"${name}":"${take(name, TEXT)}"`;
  const hash = (name: string): string => `"${name}":"${take(name, HASH)}"`;
  const count = (name: string): string => `"${name}":${take(name, COUNT)}`;
  const oneOf = (name: string, words: Iterable<string>): string =>
    `"${name}":"${take(name, [...words].join("|"))}"`;
  const optional = (member: string): string => `(?:,${member})?`;
  const types = take("event_type", [...RECEIPT_EVENT_TYPES].join("|"));
  const target = `"target":\\{(?:${text("component_id")},)?${text("component_type")}\\}`;
  const before =
    `\\{${text("agent_id")},"allowed":${take("allowed", "true|false")},${text("capability_id")}` +
    `,${oneOf("classification", RECEIPT_CLASSIFICATIONS)}${optional(text("denial_reason"))}` +
    `,${text("event_id")},"event_type":(?:"${types}"|\\{${text("custom")}\\}),${text("id")}` +
    `,${text("kernel_key")},${hash("payload_hash")}${optional(text("session_id"))}`;
  const receipt =
    `${take("before", before)},${text("signature")}${optional(target)}` +
    `,${count("timestamp")},${oneOf("transport", ["sse", "websocket"])}\\}`;
  const head =
    `\\{(?:${text("client_address")},)?${oneOf("direction", ["outbound", "inbound"])}` +
    `${optional(hash("emitted_hash"))},${oneOf("mode", ["enforce", "observe"])}` +
    `${optional(text("path"))},${text("policy_hash")}${optional(text("principal"))},"receipt":`;
  return (
    `${take("head", head)}${take("receipt", receipt)},${count("received_at")}` +
    `${optional(text("rule"))}${optional(text("run_id"))},${count("seq")}` +
    `${optional(text("thread_id"))}${optional(text("tool"))}\\}`
  );
}
