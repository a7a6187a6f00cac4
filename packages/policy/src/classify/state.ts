import type { JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { splitPointer } from "../patterns/pointer-glob.js";
import { isChildless, MAX_CHANGES, visitDifferences } from "./difference.js";
import type { Aspect } from "./facts.js";
import { refine, strictestFirst } from "./refinement.js";
import type { Refinements } from "./refinement.js";
import { RuleWalk } from "./rule-walk.js";

/** What a patch does: the table's row for paths no rule names, and each rule one of its paths touches. */
export function patchAspects(
  base: Aspect,
  patch: JsonPatch,
  state: Refinements["state"],
): [Aspect, ...Aspect[]] {
  if (state.length === 0 || patch.length === 0) return [base];
  const walk = new RuleWalk(state);
  for (const operation of patch) {
    if (walk.isDone) break;
    touchPointer(walk, operation.path, operation.op);
    if ("from" in operation) touchPointer(walk, operation.from, operation.op);
  }
  return toAspects(base, state, walk);
}

/**
 * What a whole state does: every rule that names a path which it adds, removes or replaces. Above `MAX_CHANGES` of
 * them it counts as touching all.
 *
 * @param before the state it takes the place of; where that is unknown, it is judged like a patch of the root
 */
export function snapshotAspects(
  base: Aspect,
  before: JsonValue | undefined,
  after: JsonValue,
  state: Refinements["state"],
): [Aspect, ...Aspect[]] {
  if (state.length === 0) return [base];
  if (before === undefined) return patchAspects(base, [REPLACE_ROOT], state);
  const walk = new RuleWalk(state);
  let changes = 0;
  visitDifferences(before, after, {
    enter: (segment) => walk.enter(segment),
    leave: () => walk.leave(),
    changed(_op, _value, isLeaf) {
      changes += 1;
      if (changes > MAX_CHANGES) walk.touchAll();
      else if (!walk.touch() && isLeaf) walk.unnamed = true;
      return !walk.isDone;
    },
  });
  // A state that is sent again as it is changes nothing. An empty one may take away what a client never told: then
  // the state before it is as good as unknown.
  if (changes === 0) {
    return isChildless(after)
      ? patchAspects(base, [REPLACE_ROOT], state)
      : [{ ...base, classification: "display", derived: "display" }];
  }
  return toAspects(base, state, walk);
}

const REPLACE_ROOT: JsonPatch[number] = { op: "replace", path: "", value: null };

// The first rule that names a path decides it; rules that name something below it count as well.
function touchPointer(walk: RuleWalk, pointer: string, op: JsonPatch[number]["op"]): void {
  const path = splitPointer(pointer);
  walk.restart();
  path.forEach((segment, at) => {
    // What enters or leaves a list moves its neighbours: a rule for `/links/0` is touched by what is put
    // before it, and by what is appended to an empty list.
    const isShift = at === path.length - 1 && op !== "replace" && op !== "test";
    if (isShift && POSITION.test(segment)) walk.touchMembers();
    walk.enter(segment);
  });
  if (!walk.touch()) walk.unnamed = true;
  walk.touchBelow();
  const other = asReadByClients(path);
  if (other === undefined) return;
  walk.restart();
  for (const segment of other) walk.enter(segment);
  walk.touch();
  walk.touchBelow();
}

const POSITION = /^(?:-|[0-9]*)$/;
const DIGITS = /^[0-9]*$/;

/**
 * A path as the official client's patch library reads it, where that differs: it takes `00`, `4294967296` and an empty
 * name for the place 0 of a list. RFC 6901 §4 forbids them, but what it reads is what the person gets.
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

function toAspects(
  base: Aspect,
  state: Refinements["state"],
  { hit, unnamed }: RuleWalk,
): [Aspect, ...Aspect[]] {
  const aspects: Aspect[] = unnamed ? [base] : [];
  for (const index of hit) aspects.push(refine(base, state[index]?.refinement));
  const [first, ...rest] = aspects;
  return first === undefined ? [base] : strictestFirst([first, ...rest]);
}
