import { expect, test } from "vitest";
import { RE2JS } from "re2js";
import { compileRegex } from "./compile.js";
import { estimateInstructions } from "./estimate.js";

test.each([
  "abc",
  "(a|b)*c",
  "a{10,20}",
  "(a{0,30}){0,30}",
  "[a-z{5}]+\\{5\\}",
  "(?i)\\p{Greek}{3}[[:alpha:]]{4}",
  "[]a{1000}]x",
  "((a{0,9}){0,9}){0,9}",
  "(?:x{2}){500}",
])("the estimate of %s is not far below the program", (source) => {
  const size = RE2JS.compile(source).matcher("").programSize();
  expect(estimateInstructions(source) + 4).toBeGreaterThanOrEqual(size / 2);
});

test("everyday patterns are far below the bound", () => {
  expect(
    estimateInstructions("(?i)(secret|password|api[_-]?key)\\s*[:=]\\s*\\S{8,64}"),
  ).toBeLessThan(300);
});

test("a pattern that would unfold is refused before it is compiled", () => {
  expect(compileRegex("(a{0,1000})".repeat(370)).problem).toMatch(/instructions/);
});
