import type { JsonValue } from "@countersign/core";

/** Whether a value is nested deeper than the limit; stops looking as soon as it knows. */
export function isDeeperThan(value: JsonValue, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit <= 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, limit - 1));
  for (const key of Object.keys(value)) {
    if (isDeeperThan(value[key] as JsonValue, limit - 1)) return true;
  }
  return false;
}
