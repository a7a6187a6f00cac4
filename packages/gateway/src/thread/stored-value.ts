import { parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/**
 * Reads JSON that this gateway stored. Its bytes are our own and were bounded when they were written: a bound here
 * would only make a thread unreadable for good.
 */
export function parseStored(text: string): JsonValue {
  return parseJson(text, { maxBytes: Number.MAX_SAFE_INTEGER });
}
