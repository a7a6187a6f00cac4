import type { JsonObject } from "@countersign/core";

/** A copy without some members; own keys such as `__proto__` stay data. */
export function withoutMembers(object: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
}
