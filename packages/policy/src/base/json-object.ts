import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** The value as an object, if it is one; lists and null are not. */
export function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}
