import { isGlob, matchesGlob } from "./glob.js";

/** Looks a name up in an ordered list of patterns; the first that matches wins. */
export type NameTable<Value> = {
  readonly size: number;
  find(name: string): Value | undefined;
};

/** An entry whose pattern has no wildcard costs one map look-up, however many there are. */
export function createNameTable<Value>(
  entries: readonly (readonly [pattern: string, value: Value])[],
): NameTable<Value> {
  const exact = new Map<string, { order: number; value: Value }>();
  const globs: { order: number; pattern: string; value: Value }[] = [];
  entries.forEach(([pattern, value], order) => {
    if (isGlob(pattern)) globs.push({ order, pattern, value });
    else if (!exact.has(pattern)) exact.set(pattern, { order, value });
  });
  return {
    size: entries.length,
    find(name) {
      const hit = exact.get(name);
      for (const glob of globs) {
        if (hit !== undefined && hit.order < glob.order) break;
        if (matchesGlob(glob.pattern, name)) return glob.value;
      }
      return hit?.value;
    },
  };
}
