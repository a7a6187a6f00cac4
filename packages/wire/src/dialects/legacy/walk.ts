import { CountersignError, isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { childPath } from "../../enforce/note.js";
import { upgradePart } from "./binary-part.js";
import type { LegacyContext } from "./context.js";
import { isMediaPart, MediaIndex } from "./media-index.js";
import type { Position } from "./positions.js";

/**
 * Names and nulls of one protocol object, then of its protocol children. Returns the same object when
 * nothing had to change, so that a 1.0 stream is not copied.
 */
export function normaliseObject(
  object: JsonObject,
  position: Position,
  path: string,
  context: LegacyContext,
): JsonObject {
  let current = context.lenient ? renameMembers(object, position, path, context) : object;
  current = dropNulls(current, position, path, context);
  for (const [name, child] of position.children) {
    if (!Object.hasOwn(current, name)) continue;
    const before = current[name] as JsonValue;
    const after = normaliseChild(before, child, childPath(path, name), context);
    if (after !== before) current = { ...current, [name]: after };
  }
  return current;
}

function normaliseChild(
  value: JsonValue,
  position: Position,
  path: string,
  context: LegacyContext,
): JsonValue {
  if (isJsonObject(value)) {
    // Parts live only in lists: an object in their place is activity content or a tool's own value.
    return position.part === true ? value : normaliseObject(value, position, path, context);
  }
  if (!Array.isArray(value)) return value;
  let changed = false;
  const list: JsonValue[] = [];
  const typed = new MediaIndex(value);
  for (const [index, element] of value.entries()) {
    if (!isJsonObject(element)) {
      list.push(element);
      continue;
    }
    const place = childPath(path, index);
    const named = normaliseObject(element, position, place, context);
    const after = position.part === true ? upgradePart(named, typed, place, context) : named;
    if (after !== element) changed = true;
    if (after !== undefined) list.push(after);
  }
  return changed ? list : value;
}

function renameMembers(
  object: JsonObject,
  position: Position,
  path: string,
  context: LegacyContext,
): JsonObject {
  let found = false;
  for (const key of Object.keys(object)) {
    const name = position.names.get(key);
    if (name === undefined) continue;
    found = true;
    // Two readers may prefer different twins, so neither may be chosen here.
    if (Object.hasOwn(object, name)) {
      const at = childPath(path, name);
      throw new CountersignError(
        "ERR_DIALECT_DOUBLE_SPELLING",
        `event ${context.eventNumber} spells ${at} in snake_case and in camelCase`,
        { event: context.eventNumber, path: at },
      );
    }
    context.note("snake-case", childPath(path, key));
  }
  if (!found) return object;
  return Object.fromEntries(
    Object.entries(object).map(([key, value]) => [position.names.get(key) ?? key, value]),
  );
}

function dropNulls(
  object: JsonObject,
  position: Position,
  path: string,
  context: LegacyContext,
): JsonObject {
  let drop: Set<string> | undefined;
  const consider = (name: string): void => {
    if (!Object.hasOwn(object, name) || object[name] !== null) return;
    (drop ??= new Set()).add(name);
    context.note("null-absent", childPath(path, name));
  };
  // Of all parts 1.0 forgives only the media parts their null.
  if (position.part !== true || isMediaPart(object)) {
    for (const name of position.shimNulls) consider(name);
  }
  if (context.lenient) {
    for (const name of position.oldNulls) consider(name);
    if (position.assistantContent === true && object["role"] === "assistant") consider("content");
  }
  if (drop === undefined) return object;
  const dropped = drop;
  return Object.fromEntries(Object.entries(object).filter(([key]) => !dropped.has(key)));
}
