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
      if (!collect(splitPointer(pointer), true, state, hit)) unnamed = true;
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
