import type { JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { splitPointer } from "../patterns/pointer-glob.js";
import { CLIENT_PATCH_LIMITS } from "./client-state.js";
import { MAX_CHANGES, visitDifferences } from "./difference.js";
import type { Aspect } from "./facts.js";
import { refine, strictestFirst } from "./refinement.js";
import type { Refinements } from "./refinement.js";
import { RuleWalk } from "./rule-walk.js";
import { touchedPart } from "./touched-part.js";

/**
 * The aspects of a patch: the table's row for paths that no rule names, and each rule that one of
 * its paths touches. They include everything that a snapshot of its result would touch.
 *
 * @param before the state it changes; if unknown, anything may be below its paths
 */
export function patchAspects(
  base: Aspect,
  before: JsonValue | undefined,
  patch: JsonPatch,
  state: Refinements["state"],
): [Aspect, ...Aspect[]] {
  const walk = new RuleWalk(state);
  let isCovered = true;
  for (const operation of patch) {
    if (walk.isDone) break;
    isCovered = touchPointer(walk, operation.path, operation.op) && isCovered;
    if ("from" in operation) {
      // A copied value stays unchanged.
      const op = operation.op === "copy" ? "test" : operation.op;
      isCovered = touchPointer(walk, operation.from, op) && isCovered;
    }
  }
  // The rules were found by the paths above; only a path without a rule may be missing.
  if (!isCovered && !walk.unnamed) touchResult(walk, before, patch);
  return toAspects(base, state, walk);
}

/**
 * The aspects of a whole state: every rule that names an added, removed or replaced path. Above
 * `MAX_CHANGES` of them it counts as touching all.
 *
 * @param before the state it replaces; if unknown, it is evaluated like a patch of the root
 */
export function snapshotAspects(
  base: Aspect,
  before: JsonValue | undefined,
  after: JsonValue,
  state: Refinements["state"],
): [Aspect, ...Aspect[]] {
  if (before === undefined) return patchAspects(base, undefined, [REPLACE_ROOT], state);
  const walk = new RuleWalk(state);
  touchDifferences(walk, before, after, Number.POSITIVE_INFINITY, () => walk.isDone);
  return toAspects(base, state, walk);
}

const REPLACE_ROOT: JsonPatch[number] = { op: "replace", path: "", value: null };

/**
 * @param maxMembers maximum number of compared members: those of an event are bounded, those of a
 * patched state are not
 */
function touchDifferences(
  walk: RuleWalk,
  before: JsonValue,
  after: JsonValue,
  maxMembers: number,
  isDone: () => boolean,
): void {
  let changes = 0;
  let members = 0;
  walk.restart();
  visitDifferences(before, after, {
    enter: (segment) => walk.enter(segment),
    leave: () => walk.leave(),
    looksInside(count) {
      if (isDone() || walk.isDoneBelow) return false;
      if (maxMembers !== Number.POSITIVE_INFINITY) members += count();
      if (members > maxMembers) walk.touchAll();
      return !isDone();
    },
    membersOf: (keys, isKey) => membersToVisit(walk, keys, isKey),
    changed(_op, _value, isLeaf) {
      changes += 1;
      if (changes > MAX_CHANGES) walk.touchAll();
      else if (!walk.touch() && isLeaf()) walk.touchUnnamed();
      return !isDone();
    },
  });
}

/** All members until the rules say which are left: a short event can take a large state away. */
function* membersToVisit(
  walk: RuleWalk,
  keys: readonly string[],
  isKey: (name: string) => boolean,
): Generator<string> {
  let wasUnnamed = false;
  for (const key of keys) {
    if (walk.unnamed && !wasUnnamed) {
      wasUnnamed = true;
      const names = walk.namesBelow;
      if (names !== undefined) {
        for (const name of names) if (isKey(name)) yield name;
        return;
      }
    }
    yield key;
    if (walk.isDoneBelow) return;
  }
}

/**
 * Touches what a snapshot of the result would touch. A patch that does not apply here may apply in
 * the client.
 */
function touchResult(walk: RuleWalk, before: JsonValue | undefined, patch: JsonPatch): void {
  const part = before === undefined ? undefined : touchedPart(before, patch);
  const after = part === undefined ? undefined : patchedState(part, patch);
  if (part === undefined || after === undefined) walk.touchUnnamed();
  else {
    const isDone = (): boolean => walk.unnamed || walk.isDone;
    touchDifferences(walk, part, after, CLIENT_PATCH_LIMITS.maxWork, isDone);
  }
}

function patchedState(before: JsonValue, patch: JsonPatch): JsonValue | undefined {
  try {
    const result = applyJsonPatch(before, patch, CLIENT_PATCH_LIMITS, 0);
    return result.applied ? result.document : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The first rule that names a path decides it; rules for paths below it count as well.
 *
 * @returns whether no path below without a rule can change: one rule names them all, or nothing
 * changes
 */
function touchPointer(walk: RuleWalk, pointer: string, op: JsonPatch[number]["op"]): boolean {
  const path = splitPointer(pointer);
  // Adding to or removing from a list moves its neighbours: a rule for `/links/0` is touched by an
  // item inserted before it, and by one appended to an empty list.
  const isShift = op !== "replace" && op !== "test" && POSITION.test(path.at(-1) ?? "none");
  let isCovered = true;
  walk.restart();
  path.forEach((segment, at) => {
    if (isShift && at === path.length - 1) {
      walk.touchMembers();
      isCovered = walk.coversBelow();
    }
    walk.enter(segment);
  });
  if (!walk.touch()) walk.touchUnnamed();
  walk.touchBelow();
  isCovered &&= walk.coversBelow();
  const other = asReadByClients(path);
  if (other !== undefined) {
    walk.restart();
    for (const segment of other) walk.enter(segment);
    isCovered = walk.touch() && isCovered;
    walk.touchBelow();
    isCovered &&= walk.coversBelow();
  }
  return isCovered || op === "test";
}

const POSITION = /^(?:-|[0-9]*)$/;
const DIGITS = /^[0-9]*$/;

/**
 * A path as the official client's patch library reads it, if that differs: it reads `00`,
 * `4294967296` and an empty name as position 0 of a list. RFC 6901 §4 forbids them, but the
 * client's result counts.
 */
export function asReadByClients(path: readonly string[]): readonly string[] | undefined {
  let differs = false;
  const read = path.map((segment) => {
    if (!DIGITS.test(segment)) return segment;
    const place = String(Number(segment) | 0);
    differs ||= place !== segment;
    return place;
  });
  return differs ? read : undefined;
}

/** A change without effect is `display`: an unchanged state that is sent again, an empty patch. */
function toAspects(
  base: Aspect,
  state: Refinements["state"],
  { hit, unnamedPath }: RuleWalk,
): [Aspect, ...Aspect[]] {
  const aspects: Aspect[] = unnamedPath === undefined ? [] : [at(base, unnamedPath)];
  for (const [index, path] of hit) aspects.push(at(refine(base, state[index]?.refinement), path));
  const [first, ...rest] = aspects;
  return first === undefined
    ? [{ ...base, classification: "display", derived: "display" }]
    : strictestFirst([first, ...rest]);
}

/** The root names no path. */
function at(aspect: Aspect, path: string): Aspect {
  return path === "" ? aspect : { ...aspect, path };
}
