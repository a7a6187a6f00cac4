import { canonicalCount, canonicalText, utf8 } from "../receipt/canonical-text.js";
import { encodeReceipt } from "../receipt/encode-receipt.js";
import type { LogEntry } from "./entry.js";
import { MAX_ENTRY_BYTES } from "./entry.js";
import { formatError } from "../receipt/errors.js";

/** Canonical JSON of an entry as text. */
export function encodeEntryText(entry: LogEntry): string {
  let text = `{"direction":${canonicalText("direction", entry.direction)}`;
  if (entry.emitted_hash !== undefined) {
    text += `,"emitted_hash":${canonicalText("emitted_hash", entry.emitted_hash)}`;
  }
  if (entry.further_rules !== undefined) {
    text += `,"further_rules":${encodeFurtherRules(entry.further_rules)}`;
  }
  text += `,"mode":${canonicalText("mode", entry.mode)},"policy_hash":${canonicalText("policy_hash", entry.policy_hash)},"receipt":${encodeReceipt(entry.receipt)},"received_at":${canonicalCount("received_at", entry.received_at)}`;
  if (entry.rule !== undefined) text += `,"rule":${canonicalText("rule", entry.rule)}`;
  if (entry.run_id !== undefined) text += `,"run_id":${canonicalText("run_id", entry.run_id)}`;
  text += `,"seq":${canonicalCount("seq", entry.seq)}`;
  if (entry.thread_id !== undefined) {
    text += `,"thread_id":${canonicalText("thread_id", entry.thread_id)}`;
  }
  return `${text}}`;
}

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
