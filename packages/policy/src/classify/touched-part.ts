import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { splitPointer } from "../patterns/pointer-glob.js";

/** The paths of a patch as a tree. */
type Touched = {
  /** An operation names this path: its value is needed whole. */
  isWhole: boolean;
  /** An operation may move the members of this value, if it is a list. */
  isShifted: boolean;
  readonly below: Map<string, Touched>;
};

const untouched = (): Touched => ({ isWhole: false, isShifted: false, below: new Map() });

/**
 * The part of a document that a patch names. The patch applies to it as to the whole document, and
 * changes the same paths. Members beside its paths are left out, so the cost is that of the patch
 * and the lists on its paths.
 */
export function touchedPart(document: JsonValue, patch: JsonPatch): JsonValue {
  const root = untouched();
  for (const operation of patch) {
    const isShift = operation.op !== "replace" && operation.op !== "test";
    add(root, operation.path, isShift);
    if ("from" in operation) add(root, operation.from, isShift);
  }
  return partOf(document, root);
}

function add(root: Touched, pointer: string, isShift: boolean): void {
  let node = root;
  let parent = root;
  for (const segment of splitPointer(pointer)) {
    let next = node.below.get(segment);
    if (next === undefined) node.below.set(segment, (next = untouched()));
    parent = node;
    node = next;
  }
  node.isWhole = true;
  parent.isShifted ||= isShift;
}

function partOf(value: JsonValue, touched: Touched): JsonValue {
  if (touched.isWhole || value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    // Another operation may find an item of the list at another position.
    if (touched.isShifted) return value;
    return replaceMembers([...value], value, touched) as JsonValue[];
  }
  return isJsonObject(value) ? replaceMembers({}, value, touched) : value;
}

function replaceMembers<Container extends JsonObject | JsonValue[]>(
  part: Container,
  value: JsonObject | JsonValue[],
  touched: Touched,
): Container {
  const [members, target] = [value as JsonObject, part as JsonObject];
  for (const [name, below] of touched.below) {
    // No patch that names a prototype applies.
    if (name === "__proto__" || !Object.hasOwn(members, name)) continue;
    if (Array.isArray(value) && name === "length") continue;
    target[name] = partOf(members[name] as JsonValue, below);
  }
  return part;
}
