import { setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** A deep copy that shares nothing with its source. */
export function copyJson<Value extends JsonValue>(value: Value): Value;
export function copyJson(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => copyJson(item));
  if (typeof value !== "object" || value === null) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setMember(copy, key, copyJson(value[key] as JsonValue));
  return copy;
}
