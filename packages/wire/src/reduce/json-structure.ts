import type { JsonObject, JsonValue } from "@countersign/core";

/** Whether a value is an object or an array. */
export function isContainer(value: JsonValue | undefined): value is JsonObject | JsonValue[] {
  return typeof value === "object" && value !== null;
}

/** Deep equality of JSON values; the order of keys does not matter. */
export function equalJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  if (left === right) return true;
  if (!isContainer(left) || !isContainer(right)) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, index) => equalJson(item, right[index]));
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equalJson(left[key], right[key]));
}

/**
 * The new value, with the old one's parts wherever they are equal.
 *
 * A snapshot mostly repeats what is known; kept identity is what lets a view skip rendering.
 */
export function shareStructure(previous: JsonValue | undefined, next: JsonValue): JsonValue {
  if (previous === next || !isContainer(previous) || !isContainer(next)) return next;
  if (Array.isArray(next)) {
    if (!Array.isArray(previous)) return next;
    const items = next.map((item, index) => shareStructure(previous[index], item));
    const same = items.length === previous.length && items.every((item, i) => item === previous[i]);
    return same ? previous : items;
  }
  if (Array.isArray(previous)) return next;
  const keys = Object.keys(next);
  let same = keys.length === Object.keys(previous).length;
  const members = keys.map((key): [string, JsonValue] => {
    const known = Object.hasOwn(previous, key) ? previous[key] : undefined;
    const shared = shareStructure(known, next[key] ?? null);
    same &&= known === shared;
    return [key, shared];
  });
  return same ? previous : Object.fromEntries(members);
}

/** Depth went over the bound of `measureJson`. */
export const TOO_DEEP = Symbol("too deep");

/**
 * The logical size of a value: characters of strings and keys, and 8 for every value.
 *
 * Parts that occur twice count twice, for that is what a reader would have to write out.
 *
 * @param visit is called for every value; it throws to stop the walk
 */
export function measureJson(
  value: JsonValue,
  maxDepth: number,
  visit?: () => void,
): number | typeof TOO_DEEP {
  visit?.();
  if (typeof value === "string") return value.length + 8;
  if (!isContainer(value)) return 8;
  if (maxDepth <= 0) return TOO_DEEP;
  let size = 8;
  if (Array.isArray(value)) {
    for (const item of value) {
      const part = measureJson(item, maxDepth - 1, visit);
      if (part === TOO_DEEP) return TOO_DEEP;
      size += part;
    }
    return size;
  }
  for (const key of Object.keys(value)) {
    const part = measureJson(value[key] ?? null, maxDepth - 1, visit);
    if (part === TOO_DEEP) return TOO_DEEP;
    size += key.length + part;
  }
  return size;
}
