import type { JsonObject, JsonValue } from "@countersign/core";

/** The value as an object, if it is one; lists and null are not. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return value !== undefined && value !== null && typeof value === "object" && !Array.isArray(value)
    ? value
    : undefined;
}
