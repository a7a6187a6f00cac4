import { isJsonObject } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { toPointer } from "./stopped-path.js";

/** The change of one path. */
export type ChangeOp = "add" | "remove" | "replace";

/** Called for each path that differs; the path is passed step by step. */
export type DifferenceVisitor = {
  enter(segment: string | number): void;
  leave(): void;
  /** Whether to visit the members of the current value; their number is counted only when it is asked for. */
  looksInside?(count: () => number): boolean;
  /**
   * The members of the current value to visit; all of them where it is left out. A generator can answer by the members
   * before.
   */
  membersOf?(keys: readonly string[], isKey: (name: string) => boolean): Iterable<string>;
  /**
   * The value at the current path is added, removed or replaced; containers come before their
   * members.
   *
   * @param value the new value, for a removal the old one
   * @param isLeaf whether one of the two has no members, so that no path below represents it
   * @returns false to stop
   */
  changed(op: ChangeOp, value: JsonValue, isLeaf: () => boolean): boolean;
};

/**
 * Visits every path at which two values differ, including those below an added or removed value.
 * Lists are compared by position. The cost is linear in both values; identical objects cost
 * nothing.
 */
export function visitDifferences(
  before: JsonValue,
  after: JsonValue,
  visitor: DifferenceVisitor,
): void {
  compare(before, after, visitor);
}

function compare(before: JsonValue, after: JsonValue, visitor: DifferenceVisitor): boolean {
  if (before === after) return true;
  if (Array.isArray(before) && Array.isArray(after)) return compareLists(before, after, visitor);
  if (isJsonObject(before) && isJsonObject(after)) return compareObjects(before, after, visitor);
  const isLeaf = (): boolean => isChildless(before) || isChildless(after);
  if (!visitor.changed("replace", after, isLeaf)) return false;
  return visitBelow("remove", before, visitor) && visitBelow("add", after, visitor);
}

function compareLists(
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  visitor: DifferenceVisitor,
): boolean {
  if (visitor.looksInside?.(() => Math.max(before.length, after.length)) === false) return true;
  const shared = Math.min(before.length, after.length);
  for (let at = 0; at < shared; at++) {
    if (before[at] === after[at]) continue;
    visitor.enter(at);
    if (!compare(before[at] as JsonValue, after[at] as JsonValue, visitor)) return false;
    visitor.leave();
  }
  const [op, longer] =
    before.length > shared ? ["remove" as const, before] : ["add" as const, after];
  const tail = Array.from({ length: longer.length - shared }, (_, at) => `${shared + at}`);
  return visitMembers(op, longer, tail, visitor);
}

function compareObjects(
  before: JsonObject,
  after: JsonObject,
  visitor: DifferenceVisitor,
): boolean {
  const keys = namesOf(before);
  if (visitor.looksInside?.(() => keys().length) === false) return true;
  for (const key of membersOf(before, keys(), visitor)) {
    const old = before[key] as JsonValue;
    if (old === after[key] && Object.hasOwn(after, key)) continue;
    if (!Object.hasOwn(after, key)) {
      if (!visitWhole("remove", key, old, visitor)) return false;
      continue;
    }
    visitor.enter(key);
    if (!compare(old, after[key] as JsonValue, visitor)) return false;
    visitor.leave();
  }
  for (const key of Object.keys(after)) {
    if (Object.hasOwn(before, key)) continue;
    if (!visitWhole("add", key, after[key] as JsonValue, visitor)) return false;
  }
  return true;
}

function visitWhole(
  op: ChangeOp,
  segment: string | number,
  value: JsonValue,
  visitor: DifferenceVisitor,
): boolean {
  visitor.enter(segment);
  if (!visitor.changed(op, value, () => isChildless(value))) return false;
  if (!visitBelow(op, value, visitor)) return false;
  visitor.leave();
  return true;
}

function visitBelow(op: ChangeOp, value: JsonValue, visitor: DifferenceVisitor): boolean {
  if (value === null || typeof value !== "object") return true;
  const keys = namesOf(value);
  if (visitor.looksInside?.(() => keys().length) === false) return true;
  return visitMembers(op, value, keys(), visitor);
}

/** The names of the members, listed when they are first asked for. */
function namesOf(value: object): () => readonly string[] {
  let names: readonly string[] | undefined;
  return () => (names ??= Object.keys(value));
}

function visitMembers(
  op: ChangeOp,
  value: JsonObject | readonly JsonValue[],
  keys: readonly string[],
  visitor: DifferenceVisitor,
): boolean {
  const members = value as JsonObject;
  for (const key of membersOf(value, keys, visitor)) {
    if (!visitWhole(op, key, members[key] as JsonValue, visitor)) return false;
  }
  return true;
}

/** @param keys all keys of an object, or those of a list from one place on */
function membersOf(
  value: JsonObject | readonly JsonValue[],
  keys: readonly string[],
  visitor: DifferenceVisitor,
): Iterable<string> {
  const first = Number(keys[0]);
  const isKey = (name: string): boolean =>
    Object.hasOwn(value, name) &&
    (!Array.isArray(value) || (name !== "length" && Number(name) >= first));
  return visitor.membersOf?.(keys, isKey) ?? keys;
}

/** Whether a value is a scalar or an empty container. */
export function isChildless(value: JsonValue): boolean {
  if (value === null || typeof value !== "object") return true;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** Maximum number of changed paths that are evaluated one by one. */
export const MAX_CHANGES = 10_000;
/** Maximum characters of all their pointers: a long name is part of each pointer below it. */
const MAX_POINTER_CHARACTERS = 1024 * 1024;

/**
 * Every path at which two values differ, as patch operations without old values.
 * @throws RangeError when there are too many
 */
export function changedPaths(before: JsonValue, after: JsonValue): JsonObject[] {
  const changes: JsonObject[] = [];
  const pointers = [""];
  let characters = 0;
  visitDifferences(before, after, {
    enter: (segment) => void pointers.push(`${pointers.at(-1) ?? ""}${toPointer([`${segment}`])}`),
    leave: () => void pointers.pop(),
    changed(op, value) {
      const path = pointers.at(-1) ?? "";
      characters += path.length;
      if (changes.length >= MAX_CHANGES || characters > MAX_POINTER_CHARACTERS) {
        throw new RangeError("too many changes");
      }
      changes.push(op === "remove" ? { op, path } : { op, path, value });
      return true;
    },
  });
  return changes;
}
