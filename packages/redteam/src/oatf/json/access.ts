import type { JsonObject, JsonValue } from "@countersign/core";

/** Whether a value is a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own member of an object; anything else, and every inherited name, is `undefined`. */
export function member(value: unknown, key: string): JsonValue | undefined {
  return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** The own member when it is a string. */
export function textMember(value: unknown, key: string): string | undefined {
  const found = member(value, key);
  return typeof found === "string" ? found : undefined;
}

/** The own member when it is a list, else an empty one. */
export function listMember(value: unknown, key: string): readonly JsonValue[] {
  const found = member(value, key);
  return Array.isArray(found) ? found : [];
}

/** Sets an own member, also for the one name (`__proto__`) where assignment would do something else. */
export function setMember(object: JsonObject, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, {
      value,
      writable: true,
      enumerable: true,
      configurable: true,
    });
  } else object[key] = value;
}
