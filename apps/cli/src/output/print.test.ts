import { stripVTControlCharacters } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { displayLines } from "./print.js";

test("of what a terminal obeys, a line for people keeps our colours and nothing else", () => {
  const colours = "\u001b[31mred\u001b[39m \u001b[1mbold\u001b[22m\n\tnext ä 😀";
  expect(displayLines(colours)).toBe(colours);
  expect(
    displayLines("a\u001b[2J\u001b]0;t\u0007\u009b31m\u202e\u{e0041}\rb\u001b[8m\u0001[31m"),
  ).toBe("a\\u{1b}[2J\\u{1b}]0;t\\u{7}\\u{9b}31m\\u{202e}\\u{e0041}\\u{d}b\\u{1b}[8m\\u{1}[31m");
});

test("whatever a line says, a terminal obeys nothing of it but our colours", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const plain = stripVTControlCharacters(displayLines(text)).replaceAll(/[\n\t]/gu, "");
      expect(plain).toMatch(/^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u);
    }),
  );
});
