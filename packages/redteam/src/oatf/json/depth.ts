import type { JsonValue } from "@countersign/core";

/** Whether a value is nested deeper than the limit; stops looking as soon as it knows. */
export function isDeeperThan(value: JsonValue, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit <= 0) return true;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof child === "object" && child !== null && isDeeperThan(child, limit - 1)) return true;
  }
  return false;
}
