import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SmallMap } from "./small-map.js";

const NAMES = ["a", "b", "", undefined, ..."cdefghijk"];
const key = fc.constantFrom(...NAMES);
const step = fc.oneof(
  {
    arbitrary: fc.record({
      do: fc.constant("set" as const),
      key,
      value: fc.constantFrom(1, 2, undefined),
    }),
    weight: 8,
  },
  { arbitrary: fc.record({ do: fc.constant("delete" as const), key }), weight: 3 },
  { arbitrary: fc.record({ do: fc.constant("clear" as const) }), weight: 1 },
);

type Step = { do: "set" | "delete" | "clear"; key?: Key; value?: number | undefined };
type Key = string | undefined;

/** Performs one step; returns whether an entry was deleted. */
function perform(
  table: Pick<Map<Key, number | undefined>, "delete" | "clear"> & {
    set(key: Key, value: number | undefined): unknown;
  },
  { do: action, key: name, value }: Step,
): boolean {
  if (action === "delete") return table.delete(name);
  if (action === "set") table.set(name, value);
  else table.clear();
  return false;
}

test("after any operations it has the entries of a Map, in the same order", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const small = new SmallMap<Key, number | undefined>();
      const map = new Map<Key, number | undefined>();
      for (const each of steps) {
        expect(perform(small, each)).toBe(perform(map, each));
        expect([...small]).toEqual([...map]);
        expect([...small.keys()]).toEqual([...map.keys()]);
        expect([...small.values()]).toEqual([...map.values()]);
        expect(small.size).toBe(map.size);
        for (const asked of [...NAMES, "never"]) {
          expect(small.has(asked)).toBe(map.has(asked));
          expect(small.get(asked)).toBe(map.get(asked));
        }
      }
    }),
  );
});

test("deleting entries during an iteration does not disturb it", () => {
  for (const names of [["a"], ["a", "b", "c"], [..."abcdefghijkl"]]) {
    const small = new SmallMap<string, number>();
    for (const name of names) small.set(name, 1);
    const seen: string[] = [];
    for (const [name] of small) {
      seen.push(name);
      small.delete(name);
    }
    expect(seen).toEqual(names);
    expect(small.size).toBe(0);
  }
});
