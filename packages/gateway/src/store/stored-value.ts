import { parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/**
 * Reads JSON that this gateway stored. The gateway limited its size when it wrote it: a limit here
 * would only make a thread unreadable for good.
 */
export function parseStored(text: string): JsonValue {
  return parseJson(text, { maxBytes: Number.MAX_SAFE_INTEGER });
}
