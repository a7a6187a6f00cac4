/** An entry of two lists under one name. */
export type Pair<Entry> = {
  readonly name: string;
  readonly before: Entry | undefined;
  readonly after: Entry | undefined;
};

/** Pairs the entries of two lists by name; entries of the same name in order. */
export function pairByName<Entry>(
  before: readonly Entry[],
  after: readonly Entry[],
  nameOf: (entry: Entry) => string,
): Pair<Entry>[] {
  const left = byName(before, nameOf);
  const right = byName(after, nameOf);
  return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) => {
    const [olds, news] = [left.get(name) ?? [], right.get(name) ?? []];
    return Array.from({ length: Math.max(olds.length, news.length) }, (_, index) => ({
      name,
      before: olds[index],
      after: news[index],
    }));
  });
}

function byName<Entry>(
  entries: readonly Entry[],
  nameOf: (entry: Entry) => string,
): Map<string, Entry[]> {
  const found = new Map<string, Entry[]>();
  for (const entry of entries) {
    const name = nameOf(entry);
    const list = found.get(name);
    if (list === undefined) found.set(name, [entry]);
    else list.push(entry);
  }
  return found;
}
