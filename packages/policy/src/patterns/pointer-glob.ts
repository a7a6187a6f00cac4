import { matchesGlob } from "./glob.js";

/** A JSON Pointer with wildcards: `*` within one segment, `**` for any number of segments. */
export type PointerGlob = readonly string[];

/** Splits a pointer or a pointer glob into its decoded segments; the root is the empty list. */
export function splitPointer(pointer: string): readonly string[] {
  if (pointer === "" || pointer === "/**") return pointer === "" ? [] : ["**"];
  return pointer
    .slice(1)
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/**
 * Whether a change at `path` affects the glob: the path itself matches, or a path below it could
 * (replacing `/cart` also replaces `/cart/total`).
 */
export function touches(glob: PointerGlob, path: readonly string[], below: boolean): boolean {
  let reachable = closure(glob, new Set([0]));
  for (const segment of path) {
    const next = new Set<number>();
    for (const at of reachable) {
      const part = glob[at];
      if (part === undefined) continue;
      if (part === "**") next.add(at);
      else if (matchesGlob(part, segment)) next.add(at + 1);
    }
    reachable = closure(glob, next);
    if (reachable.size === 0) return false;
  }
  return below || reachable.has(glob.length);
}

// `**` also matches no segment, so a position before it reaches the one after it.
function closure(glob: PointerGlob, positions: Set<number>): Set<number> {
  for (const at of positions) if (glob[at] === "**") positions.add(at + 1);
  return positions;
}
