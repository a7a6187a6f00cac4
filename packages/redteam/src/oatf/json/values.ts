import { ownMember, setMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";

/** The own member when it is a string. */
export function textMember(value: unknown, key: string): string | undefined {
  const found = ownMember(value, key);
  return typeof found === "string" ? found : undefined;
}

/** The own member when it is a list, else an empty one. */
export function listMember(value: unknown, key: string): readonly JsonValue[] {
  const found = ownMember(value, key);
  return Array.isArray(found) ? found : [];
}

/** A deep copy that shares nothing with its source. */
export function copyJson<Value extends JsonValue>(value: Value): Value;
export function copyJson(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map((item) => copyJson(item));
  if (typeof value !== "object" || value === null) return value;
  const copy: JsonObject = {};
  for (const key of Object.keys(value)) setMember(copy, key, copyJson(value[key] as JsonValue));
  return copy;
}

/** Whether a value is nested deeper than the limit; stops looking as soon as it knows. */
export function isDeeperThan(value: JsonValue, limit: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (limit <= 0) return true;
  for (const child of Array.isArray(value) ? value : Object.values(value)) {
    if (typeof child === "object" && child !== null && isDeeperThan(child, limit - 1)) return true;
  }
  return false;
}

/** Deep equality: numbers by value, key order irrelevant, arrays by position; NaN equals nothing. */
export function equalJson(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object") return false;
  if (left === null || right === null) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => equalJson(item, right[index] as JsonValue));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every(
    (key) =>
      Object.hasOwn(right, key) && equalJson(left[key] as JsonValue, right[key] as JsonValue),
  );
}

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
