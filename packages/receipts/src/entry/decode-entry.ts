import type { CountersignError, JsonValue } from "@countersign/core";
import { decodeUtf8, isJsonObject, ownMember, parseJson } from "@countersign/core";
import { assertReceipt, memberChecks } from "../receipt/check-receipt.js";
import { encodeEntryText } from "./encode-entry.js";
import type { LogEntry } from "./entry.js";
import { MAX_ENTRY_BYTES, MAX_FURTHER_RULES } from "./entry.js";
import { matchPlainEntry } from "./plain-entry.js";
import { utf8 } from "../receipt/canonical-text.js";
import { formatError } from "../receipt/errors.js";

const OPTIONAL_TEXTS = [
  "client_address",
  "emitted_hash",
  "path",
  "principal",
  "rule",
  "run_id",
  "thread_id",
  "tool",
] as const;
const MEMBERS: ReadonlySet<string> = new Set<keyof LogEntry>([
  ...OPTIONAL_TEXTS,
  "direction",
  "further_rules",
  "mode",
  "policy_hash",
  "receipt",
  "received_at",
  "seq",
]);
const HEX_HASH = /^[0-9a-f]{64}$/;

function refuse(member: string, reason: string): CountersignError {
  return formatError("ERR_ENTRY_MALFORMED", `entry member ${member}: ${reason}`, {
    member,
    reason,
  });
}

/** Narrows a JSON value to a log entry; unknown members are refused. */
export function assertEntry(value: JsonValue): asserts value is LogEntry {
  if (!isJsonObject(value)) throw refuse("entry", "not an object");
  for (const name of Object.keys(value)) {
    if (!MEMBERS.has(name)) throw refuse("entry", "unknown member");
  }
  memberChecks.count(value, "seq", refuse);
  memberChecks.count(value, "received_at", refuse);
  for (const name of OPTIONAL_TEXTS) memberChecks.optionalText(value, name, refuse);
  const direction = ownMember(value, "direction");
  if (direction !== "outbound" && direction !== "inbound") throw refuse("direction", "unknown");
  const mode = ownMember(value, "mode");
  if (mode !== "enforce" && mode !== "observe") throw refuse("mode", "unknown");
  memberChecks.text(value, "policy_hash", refuse);
  const emitted = ownMember(value, "emitted_hash");
  if (emitted !== undefined && !HEX_HASH.test(String(emitted))) {
    throw refuse("emitted_hash", "not a lower-case SHA-256");
  }
  assertFurtherRules(ownMember(value, "further_rules"));
  assertReceipt(ownMember(value, "receipt"));
}

function assertFurtherRules(rules: JsonValue | undefined): void {
  if (rules === undefined) return;
  const isList =
    Array.isArray(rules) &&
    rules.length > 0 &&
    rules.length <= MAX_FURTHER_RULES &&
    rules.every((rule) => typeof rule === "string");
  if (!isList) throw refuse("further_rules", `not a list of 1 to ${MAX_FURTHER_RULES} strings`);
}

function decodeText(bytes: Uint8Array): { text: string; entry: LogEntry } {
  if (bytes.length > MAX_ENTRY_BYTES) {
    throw formatError("ERR_ENTRY_TOO_LARGE", "a log entry is larger than a bundle allows", {
      limit: MAX_ENTRY_BYTES,
      size: bytes.length,
    });
  }
  let text: string;
  let value: JsonValue;
  try {
    // Bytes that are not UTF-8 are rejected as invalid JSON.
    text = decodeUtf8(bytes) ?? "";
    const plain = matchPlainEntry(text);
    if (plain !== undefined) return { text, entry: plain };
    value = parseJson(text);
  } catch (cause) {
    throw formatError(
      "ERR_ENTRY_MALFORMED",
      "an entry is not JSON",
      { member: "entry", reason: "not JSON" },
      cause,
    );
  }
  assertEntry(value);
  // The leaf hash covers bytes, not a value: another encoding of the same entry is not the entry.
  if (encodeEntryText(value) !== text) throw refuse("entry", "not canonical");
  return { text, entry: value };
}

/** Decodes leaf bytes. Accepts only the canonical bytes of a valid entry. */
export function decodeEntry(bytes: Uint8Array): LogEntry {
  return decodeText(bytes).entry;
}

/** An entry with slices of its own canonical text, which need not be encoded again. */
export type DecodedEntry = {
  readonly entry: LogEntry;
  /** The output of `encodeReceipt`, as bytes. */
  readonly receiptBytes: Uint8Array;
  /** The output of `encodeReceiptBody`: the signed text. */
  readonly bodyText: string;
};

/**
 * Decodes leaf bytes together with the signed text. A quote inside a JSON string is escaped, so a
 * search for a member name can find only the member itself.
 */
export function decodeEntryTexts(bytes: Uint8Array): DecodedEntry {
  const { text, entry } = decodeText(bytes);
  const start = text.indexOf(',"receipt":{') + ',"receipt":'.length;
  const end = text.indexOf(',"received_at":', start);
  const receiptText = text.slice(start, end);
  const member = receiptText.indexOf(',"signature":"');
  const after = receiptText.indexOf('"', member + ',"signature":"'.length) + 1;
  // Neither of our two signature formats contains an escape; any other fails verification anyway.
  const bodyText = receiptText.slice(0, member) + receiptText.slice(after);
  // In pure ASCII the receipt is a slice of the entry's bytes.
  const isAscii = text.length === bytes.length;
  const receiptBytes = isAscii ? bytes.subarray(start, end) : utf8(receiptText);
  return { entry, receiptBytes, bodyText };
}
