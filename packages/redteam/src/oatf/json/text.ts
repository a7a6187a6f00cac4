import { setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** A value as string operators see it: strings as they are, all else compact JSON with sorted keys. */
export function sortedText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(sorted(value));
}

/** A value as extractors and templates see it: strings as they are, all else compact JSON in insertion order. */
export function plainText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function sorted(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const ordered: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    setMember(ordered, key, sorted(value[key] as JsonValue));
  }
  return ordered;
}
