import { expect, test } from "vitest";
import { plainJson, shownLines } from "./print.js";

test("JSON for a terminal holds nothing that it would obey, and says the same", () => {
  const value = { "a\u009b2J": "\u202eevil\u2066\u{e0041}\u007f\u2028 ä 😀" };
  const text = plainJson(JSON.stringify(value));
  expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(text).toContain("ä 😀");
  expect(JSON.parse(text)).toEqual(value);
});

test("of what a terminal obeys, a line for people keeps our colours and nothing else", () => {
  const colours = "\u001b[31mred\u001b[39m \u001b[1mbold\u001b[22m\n\tnext ä 😀";
  expect(shownLines(colours)).toBe(colours);
  expect(
    shownLines("a\u001b[2J\u001b]0;t\u0007\u009b31m\u202e\u{e0041}\rb\u001b[8m\u0001[31m"),
  ).toBe("a\\u{1b}[2J\\u{1b}]0;t\\u{7}\\u{9b}31m\\u{202e}\\u{e0041}\\u{d}b\\u{1b}[8m\\u{1}[31m");
});
