import { isGlob, matchesGlob } from "./glob.js";
import { foldName, setApart, spacedOut, wholeForms } from "./look-alike.js";

/** Finds a name in an ordered list of patterns; the first match wins. */
export type NameTable<Value> = {
  readonly size: number;
  /** The values of the entries, in order. */
  readonly values: readonly Value[];
  find(name: string): Value | undefined;
  /** Whether an entry without a wildcard equals this name. */
  names(name: string): boolean;
  /** The first entry whose pattern matches a look-alike. */
  findAlike(name: string): Value | undefined;
};

/** An entry without a wildcard costs one map lookup, however many there are. */
export function createNameTable<Value>(
  entries: readonly (readonly [pattern: string, value: Value])[],
): NameTable<Value> {
  const exact = new Map<string, { order: number; value: Value }>();
  const globs: { order: number; pattern: string; value: Value }[] = [];
  entries.forEach(([pattern, value], order) => {
    if (isGlob(pattern)) globs.push({ order, pattern, value });
    else if (!exact.has(pattern)) exact.set(pattern, { order, value });
  });
  let alike: ReturnType<typeof createAlikeTable<Value>> | undefined;
  return {
    size: entries.length,
    values: entries.map(([, value]) => value),
    names: (name) => exact.has(name),
    findAlike(name) {
      if (entries.length === 0) return undefined;
      alike ??= createAlikeTable(entries);
      return alike(name);
    },
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

/** Finds a name by its folded form; the first match wins. Word boundaries are ignored. */
function createAlikeTable<Value>(
  entries: readonly (readonly [pattern: string, value: Value])[],
): (name: string) => Value | undefined {
  // The events of one call follow one another, each with its name.
  let last: { readonly name: string; readonly value: Value | undefined } | undefined;
  const patterns = entries.map(([pattern, value]) => {
    const [whole] = wholeForms(pattern);
    return { folded: foldName(pattern), whole, isGlob: isGlob(pattern), value };
  });
  const look = (name: string): Value | undefined => {
    const folded = foldName(name);
    const spaced = foldName(spacedOut(name));
    const readings = [folded, foldName(setApart(name)), spaced];
    const wholes = wholeForms(name);
    // A name of several words may have been split; one word is read unchanged.
    const isApart = folded.includes("_") || spaced.includes("_");
    return patterns.find(({ folded: pattern, whole, isGlob: hasWildcard }) =>
      hasWildcard
        ? // `bash_s_hell` looks like `*_shell`: a word may be taken apart, but none begins within another (`dropped`, `drop_*`).
          readings.some((reading) => matchesGlob(pattern, reading, "_")) ||
          (isApart && pattern === whole && wholes.some((reading) => matchesGlob(whole, reading)))
        : wholes.includes(whole),
    )?.value;
  };
  return (name) => {
    if (last?.name !== name) last = { name, value: look(name) };
    return last.value;
  };
}
