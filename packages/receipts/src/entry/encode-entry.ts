import { canonicalCount, canonicalText, utf8 } from "../receipt/canonical-text.js";
import { encodeReceipt } from "../receipt/encode-receipt.js";
import type { LogEntry } from "./entry.js";
import { MAX_ENTRY_BYTES } from "./entry.js";
import { formatError } from "../receipt/errors.js";

/** Canonical JSON of an entry as text. */
export function encodeEntryText(entry: LogEntry): string {
  const text = (name: TextMember): string =>
    `,"${name}":${canonicalText(name, entry[name] as string)}`;
  const optional = (name: TextMember): string => (entry[name] === undefined ? "" : text(name));
  const count = (name: "received_at" | "seq"): string =>
    `,"${name}":${canonicalCount(name, entry[name])}`;
  const rules = entry.further_rules;
  const further = rules === undefined ? "" : `,"further_rules":${encodeFurtherRules(rules)}`;
  const members =
    `${optional("client_address")}${text("direction")}${optional("emitted_hash")}${further}` +
    `${text("mode")}${optional("path")}${text("policy_hash")}${optional("principal")}` +
    `,"receipt":${encodeReceipt(entry.receipt)}${count("received_at")}${optional("rule")}` +
    `${optional("run_id")}${count("seq")}${optional("thread_id")}${optional("tool")}`;
  return `{${members.slice(1)}}`;
}

type TextMember = Exclude<keyof LogEntry, "receipt" | "received_at" | "seq" | "further_rules">;

/** Canonical JSON of the rules after the first. */
export function encodeFurtherRules(rules: readonly string[]): string {
  return `[${rules.map((rule) => canonicalText("further_rules", rule)).join(",")}]`;
}

/** The leaf bytes of an entry: canonical JSON, at most 65,535 bytes. */
export function encodeEntry(entry: LogEntry): Uint8Array {
  const bytes = utf8(encodeEntryText(entry));
  if (bytes.length > MAX_ENTRY_BYTES) {
    throw formatError("ERR_ENTRY_TOO_LARGE", "a log entry is larger than a bundle allows", {
      limit: MAX_ENTRY_BYTES,
      size: bytes.length,
    });
  }
  return bytes;
}
