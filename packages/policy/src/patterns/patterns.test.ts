import * as fc from "fast-check";
import { expect, test } from "vitest";
import { matchesGlob } from "./glob.js";
import { createNameTable } from "./name-table.js";
import { createNameTrie } from "./name-trie.js";
import { splitPointer, touches } from "./pointer-glob.js";

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
