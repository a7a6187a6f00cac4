import type { JsonValue } from "@countersign/core";
import type { JsonPatch } from "@countersign/wire";
import { splitPointer, touches } from "../patterns/pointer-glob.js";
import type { Aspect } from "./facts.js";
import { refine, strictestFirst } from "./refinement.js";
import type { Refinements } from "./refinement.js";

/** How many nodes of a snapshot are looked at one by one; a larger one counts as touching every path. */
export const MAX_SNAPSHOT_NODES = 10_000;

/** What a patch does: the table's row for paths no rule names, and each rule one of its paths touches. */
export function patchAspects(
  base: Aspect,
  patch: JsonPatch,
  state: Refinements["state"],
): [Aspect, ...Aspect[]] {
  if (state.length === 0 || patch.length === 0) return [base];
  const hit = new Set<number>();
  let unnamed = false;
  for (const operation of patch) {
    for (const pointer of "from" in operation
      ? [operation.path, operation.from]
      : [operation.path]) {
      const path = splitPointer(pointer);
      if (!collect(path, true, state, hit)) unnamed = true;
      if (operation.op !== "replace" && operation.op !== "test") collectShifted(path, state, hit);
      const other = asReadByClients(path);
      if (other !== undefined) collect(other, true, state, hit);
    }
  }
  return toAspects(base, state, hit, unnamed);
}

/** What a whole state does: every rule that names one of its paths. */
export function snapshotAspects(
  base: Aspect,
  snapshot: JsonValue,
  state: Refinements["state"],
): [Aspect, ...Aspect[]] {
  if (state.length === 0) return [base];
  const hit = new Set<number>();
  let unnamed = false;
  let nodes = 0;
  const stack: { path: readonly string[]; value: JsonValue }[] = [{ path: [], value: snapshot }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    nodes += 1;
    if (nodes > MAX_SNAPSHOT_NODES) {
      state.forEach((_, index) => hit.add(index));
      unnamed = true;
      break;
    }
    const { path, value } = item;
    const named = collect(path, false, state, hit);
    if (value !== null && typeof value === "object" && Object.keys(value).length > 0) {
      for (const [key, child] of Object.entries(value)) {
        stack.push({ path: [...path, key], value: child });
      }
    } else if (!named) {
      unnamed = true;
    }
  }
  return toAspects(base, state, hit, unnamed);
}

// The first rule that names a path decides it; rules that name something below it count as well.
function collect(
  path: readonly string[],
  below: boolean,
  state: Refinements["state"],
  hit: Set<number>,
): boolean {
  let named = false;
  state.forEach(({ glob }, index) => {
    if (!named && touches(glob, path, false)) {
      named = true;
      hit.add(index);
    } else if (below && touches(glob, path, true)) {
      hit.add(index);
    }
  });
  return named;
}

const DIGITS = /^[0-9]+$/;

// The official client's patch library takes `00` and `4294967296` for the place 0 of a list: RFC 6901 §4
// forbids both, but what it reads is what the person gets.
function asReadByClients(path: readonly string[]): readonly string[] | undefined {
  let differs = false;
  const read = path.map((segment) => {
    if (!DIGITS.test(segment)) return segment;
    const place = String(Number(segment) | 0);
    differs ||= place !== segment;
    return place;
  });
  return differs ? read : undefined;
}

const POSITION = /^(?:-|[0-9]+)$/;

// What enters or leaves a list moves its neighbours: a rule for `/links/0` is touched by what is put
// before it, and by what is appended to an empty list.
function collectShifted(
  path: readonly string[],
  state: Refinements["state"],
  hit: Set<number>,
): void {
  if (!POSITION.test(path.at(-1) ?? "")) return;
  const list = path.slice(0, -1);
  state.forEach(({ glob }, index) => {
    if (!touches(glob, list, false) && touches(glob, list, true)) hit.add(index);
  });
}

function toAspects(
  base: Aspect,
  state: Refinements["state"],
  hit: ReadonlySet<number>,
  unnamed: boolean,
): [Aspect, ...Aspect[]] {
  const aspects: Aspect[] = unnamed ? [base] : [];
  for (const index of hit) aspects.push(refine(base, state[index]?.refinement));
  const [first, ...rest] = aspects;
  return first === undefined ? [base] : strictestFirst([first, ...rest]);
}
