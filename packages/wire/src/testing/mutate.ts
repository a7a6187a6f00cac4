import * as fc from "fast-check";
import type { JsonObject, JsonValue } from "@countersign/core";
import { arbitraryJson } from "./json.js";

const KINDS = [
  "drop",
  "null",
  "replace",
  "extra",
  "tag",
  "prototype",
  "repeat",
  "wrap",
  "empty",
] as const;

/** One change of a JSON tree: `where` picks the node, `value` is what a replacement puts there. */
type Mutation = {
  kind: (typeof KINDS)[number];
  where: number;
  choice: number;
  value: JsonValue;
  key: string;
};

const arbitraryMutation: fc.Arbitrary<Mutation> = fc.record(
  {
    kind: fc.constantFrom(...KINDS),
    where: fc.nat({ max: 1_000_000 }),
    choice: fc.nat({ max: 1_000_000 }),
    value: fc.oneof(
      arbitraryJson,
      fc.constantFrom<JsonValue[]>(
        0,
        -1,
        1.5,
        2 ** 53,
        "",
        "/a",
        "a/b",
        "/~2",
        "~",
        true,
        [],
        {},
        "success",
        "interrupt",
        "tool",
        "assistant",
      ),
    ),
    key: fc.constantFrom(
      "x",
      "subagentRunId",
      "metadata",
      "name",
      "value",
      "from",
      "outcome",
      "input",
      "content",
      "a/b~c",
    ),
  },
  { noNullPrototype: true },
);

const PROTOTYPE_NAMES = ["toString", "constructor", "valueOf", "hasOwnProperty", "isPrototypeOf"];
const TAG_VALUES = [
  "future",
  "toString",
  "constructor",
  "success",
  "url",
  "text",
  "user",
  "move",
  "RAW",
];
const TAGS = ["type", "role", "op", "status", "subtype"];

type Slot = { holder: JsonObject | JsonValue[]; key: string };

function slotsOf(value: JsonValue, slots: Slot[]): Slot[] {
  if (typeof value !== "object" || value === null) return slots;
  for (const key of Object.keys(value)) {
    slots.push({ holder: value, key });
    slotsOf((value as JsonObject)[key] as JsonValue, slots);
  }
  return slots;
}

function objectsOf(value: JsonValue, objects: JsonObject[]): JsonObject[] {
  if (typeof value !== "object" || value === null) return objects;
  if (!Array.isArray(value)) objects.push(value);
  for (const key of Object.keys(value)) objectsOf((value as JsonObject)[key] as JsonValue, objects);
  return objects;
}

function listsOf(root: JsonValue): JsonValue[][] {
  return slotsOf(root, []).flatMap(({ holder, key }) => {
    const value = (holder as JsonObject)[key];
    return Array.isArray(value) ? [value] : [];
  });
}

function pick<T>(list: readonly T[], where: number): T | undefined {
  return list[where % Math.max(list.length, 1)];
}

function apply(root: JsonValue, mutation: Mutation): void {
  const { kind, where, value, key } = mutation;
  const slot = pick(slotsOf(root, []), where);
  const object = pick(objectsOf(root, []), where);
  if (slot === undefined || object === undefined) return;
  const holder = slot.holder as JsonObject;
  switch (kind) {
    case "drop":
      if (Array.isArray(slot.holder)) slot.holder.splice(Number(slot.key), 1);
      else delete slot.holder[slot.key];
      return;
    case "null":
      holder[slot.key] = null;
      return;
    case "replace":
      holder[slot.key] = structuredClone(value);
      return;
    case "extra":
      object[key] = structuredClone(value);
      return;
    case "tag": {
      const tag = TAGS.find((name) => Object.hasOwn(object, name)) ?? "type";
      object[tag] = pick(TAG_VALUES, mutation.choice) as string;
      return;
    }
    case "prototype":
      object[pick(PROTOTYPE_NAMES, mutation.choice) as string] = structuredClone(value);
      return;
    case "repeat":
      if (Array.isArray(slot.holder)) {
        slot.holder.push(structuredClone(slot.holder[Number(slot.key)] as JsonValue));
      }
      return;
    case "empty": {
      const list = pick(listsOf(root), where);
      if (list !== undefined) list.length = 0;
      return;
    }
    case "wrap":
      holder[slot.key] = [holder[slot.key] as JsonValue];
  }
}

/**
 * Damaged copies of a JSON value: keys dropped, nulls, other types, extra keys, unknown union members,
 * keys named like members of `Object.prototype`, repeated, wrapped and emptied values; one to three of them.
 */
export function mutateJson(value: JsonValue): fc.Arbitrary<JsonValue> {
  return fc.array(arbitraryMutation, { minLength: 1, maxLength: 3 }).map((mutations) => {
    const copy = structuredClone(value);
    for (const mutation of mutations) apply(copy, mutation);
    return copy;
  });
}
