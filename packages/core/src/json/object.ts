import type { JsonObject, JsonValue } from "./value.js";

/** Whether a value is a JSON object: not null, not a list. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The own member of a JSON object, never one of the prototype; undefined for any other value. */
export function ownMember(value: unknown, key: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Sets an own member, also `__proto__`, where an assignment would set the prototype. */
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
