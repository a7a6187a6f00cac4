import * as fc from "fast-check";
import { expect, test, vi } from "vitest";
import { matchesGlob } from "./glob.js";
import { createLookAlikes, wholeForms } from "./look-alike.js";
import { createNameTable } from "./name-table.js";
import { createNameTrie } from "./name-trie.js";
import { splitPointer, touches } from "./pointer-glob.js";

const looksLike = (name: string, other: string): boolean =>
  createLookAlikes([other]).find(name) === other;

const letters = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 6 });
const name = fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 8 });

test("globs match what the regular expression of the same meaning matches", () => {
  fc.assert(
    fc.property(letters, name, (pattern, name) => {
      const expression = new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`);
      expect(matchesGlob(pattern, name)).toBe(expression.test(name));
    }),
    { numRuns: 500 },
  );
});

test("a glob full of stars answers at once", () => {
  expect(matchesGlob(`${"*a".repeat(100)}b`, "a".repeat(10_000))).toBe(false);
});

test("a trie holds exactly its names and what begins with its prefixes", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.boolean()), { maxLength: 5 }),
      name,
      (entries, asked) => {
        const trie = createNameTrie(entries.map(([text, prefix]) => (prefix ? `${text}*` : text)));
        const expected = entries.some(([text, prefix]) =>
          prefix ? asked.startsWith(text) : asked === text,
        );
        expect(trie.has(asked)).toBe(expected);
      },
    ),
    { numRuns: 500 },
  );
});

test("the first entry that matches a name decides", () => {
  const table = createNameTable([
    ["a*", 1],
    ["ab", 2],
    ["b", 3],
    ["*", 4],
    ["b", 5],
  ]);
  expect([table.find("ab"), table.find("b"), table.find("c")]).toEqual([1, 3, 4]);
});

test.each([
  ["/a/*", "/a/b", false, true],
  ["/a/*", "/a/b/c", false, false],
  ["/a/**", "/a/b/c", false, true],
  ["/a/**", "/a", false, true],
  ["/**", "", false, true],
  ["/a/**/z", "/a/b/c/z", false, true],
  ["/a/**/z", "/a/z", false, true],
  ["/a/b/c", "/a", true, true],
  ["/a/b/c", "", true, true],
  ["/a/b/c", "/b", true, false],
  ["/a/b", "/a/b/c", true, false],
  ["/a~1b", "/a~1b", false, true],
])("%s and %s (below: %s): %s", (glob, path, below, expected) => {
  expect(touches(splitPointer(glob), splitPointer(path), below)).toBe(expected);
});

const word = fc.constantFrom("delete", "user", "pay", "Get", "ID", "i1", "rn", "vv");
const sign = fc.constantFrom(
  "",
  "_",
  "__",
  "-",
  ".",
  ":",
  "/",
  " ",
  "!",
  "$",
  "|",
  "\u00a0",
  "\u200b",
);
const spelling = fc
  .tuple(fc.array(fc.tuple(word, sign), { minLength: 1, maxLength: 3 }), sign, fc.nat(3))
  .map(([parts, first, letterCase]) => {
    const name =
      first + parts.map(([text, end], at) => (at === 1 ? upper(text) : text) + end).join("");
    return letterCase === 0 ? name.toUpperCase() : letterCase === 1 ? name.toLowerCase() : name;
  });
const upper = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

test("what an entry of a list finds looks like the entry, and so does every spelling of its words", () => {
  fc.assert(
    fc.property(spelling, spelling, (entry, name) => {
      fc.pre(createNameTable([[entry, true]]).findAlike(name) === true);
      expect([looksLike(name, entry), looksLike(entry, name)]).toEqual([true, true]);
    }),
    { numRuns: 200, maxSkipsPerRun: 200 },
  );
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 3 }),
      sign,
      sign,
      sign,
      (words, ...signs) => {
        const [one, two, end] = signs;
        expect(looksLike(words.join(one) + end, words.join(two))).toBe(true);
      },
    ),
    { numRuns: 500 },
  );
});

test("a name is found among many exactly if it looks like one of them, letter by letter", () => {
  const near = fc.string({
    unit: fc.constantFrom("a", "l", "1", "_", "A", "а", "中"),
    maxLength: 4,
  });
  const isAlike = (one: string, two: string): boolean => {
    const [mine, other] = [[...one], [...two]];
    const isSame = (at: number): boolean =>
      mine[at] === other[at] || (mine[at] ?? "") > "~" || (other[at] ?? "") > "~";
    return mine.length === other.length && mine.every((_, at) => isSame(at));
  };
  fc.assert(
    fc.property(fc.array(near, { maxLength: 6 }), near, (names, name) => {
      const found = createLookAlikes(names).find(name);
      const expected = names.filter((other) =>
        wholeForms(name).some((one) => wholeForms(other).some((two) => isAlike(one, two))),
      );
      expect(expected.length === 0 ? [undefined] : expected).toContain(found);
    }),
    { numRuns: 1000 },
  );
});

test("a name among many costs no comparison with each of them", () => {
  const fold = vi.spyOn(String.prototype, "normalize");
  try {
    const names = createLookAlikes(Array.from({ length: 3000 }, (_, at) => `tool_${at}`));
    for (let at = 0; at < 3000; at += 1) names.find(`other_${at}`);
    expect(fold.mock.calls.length).toBeLessThan(20 * 6000);
  } finally {
    fold.mockRestore();
  }
});

test("beyond the limit of compared letters a name of another script counts as alike", () => {
  const names = createLookAlikes(
    Array.from({ length: 1000 }, (_, at) => `${at}`.padStart(100, "x")),
  );
  const name = `${"中".repeat(99)}x`;
  let found: string | undefined;
  for (let at = 0; found === undefined && at < 30; at += 1) found = names.find(name);
  expect(found).toBeDefined();
  expect(names.find("plain")).toBeUndefined();
});

test("a name whose words are taken apart looks like the pattern, and a longer word does not", () => {
  const table = createNameTable(["*_shell", "drop_*", "*_db_*"].map((one) => [one, one] as const));
  const apart = fc.tuple(
    fc.constantFrom("bash_shell", "drop_table", "my_db_tool"),
    fc.array(fc.nat(12)),
  );
  fc.assert(
    fc.property(apart, ([name, cuts]) => {
      const letters = [...name];
      for (const cut of cuts.toSorted((one, other) => other - one)) letters.splice(cut, 0, "_");
      expect([letters.join(""), table.findAlike(letters.join(""))]).not.toContain(undefined);
    }),
  );
  for (const name of [
    "dropped_items",
    "eggshell",
    "nutshell_view",
    "feedback",
    "dropdown",
    "indb_x",
  ]) {
    expect([name, table.findAlike(name)]).toEqual([name, undefined]);
  }
});
