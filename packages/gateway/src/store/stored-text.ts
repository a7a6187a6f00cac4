import { parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** Reads JSON that this gateway stored. A limit of size here would only make a thread unreadable for good. */
export function parseStored(text: string): JsonValue {
  return parseJson(text, { maxBytes: Number.MAX_SAFE_INTEGER });
}

/** Encodes text for a database: U+0000 ends text in SQLite, PostgreSQL rejects it, and clients choose ids. */
export function encodeText(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\u0000", "%00");
}

/** Decodes text that {@link encodeText} encoded. */
export function decodeText(text: string): string {
  return text.replaceAll("%00", "\u0000").replaceAll("%25", "%");
}
