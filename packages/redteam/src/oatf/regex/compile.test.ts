import { expect, test } from "vitest";
import { EvaluationFailure } from "../evaluate/evaluation-error.js";
import { compileRegex, MAX_PATTERN_LENGTH, MAX_SEARCH_WORK, requireRegex } from "./compile.js";

test.each(["(?i)abc", "(?P<n>x)", "\\p{Greek}", "^a{1,1000}$", "[[:alpha:]]"])(
  "%s is RE2",
  (source) => {
    expect(compileRegex(source).regex).toBeDefined();
  },
);

test.each([
  "(?=x)",
  "(?<!x)y",
  "(x)\\1",
  "a++",
  "a{1001}",
  "((a{100}){100}){100}",
  "(",
  "(".repeat(1500),
  "a".repeat(MAX_PATTERN_LENGTH + 1),
  "(((a{0,10}){0,10}){0,10})(((b{0,10}){0,10}){0,10})(((c{0,10}){0,10}){0,10})",
])("%s is refused", (source) => {
  expect(compileRegex(source).problem).toEqual(expect.any(String));
});

test("a pattern may be as long as the limit", () => {
  expect(compileRegex("a".repeat(MAX_PATTERN_LENGTH)).regex).toBeDefined();
});

test("patterns that hang backtracking engines answer", () => {
  const text = `${"a".repeat(50_000)}!`;
  for (const source of [
    "^(a+)+$",
    "^(a|a)*$",
    "(.*)(.*)(.*)(.*)z",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
  ]) {
    expect(requireRegex(source).test(text)).toBe(false);
  }
});

test("a search is refused where characters times instructions cross the limit", () => {
  const regex = requireRegex("(a?){1000}z");
  const perCharacter = 4003;
  const fits = Math.floor(MAX_SEARCH_WORK / perCharacter);
  expect(regex.test("b".repeat(fits))).toBe(false);
  expect(() => regex.test("b".repeat(fits + 1))).toThrow(EvaluationFailure);
  expect(() => regex.find("b".repeat(fits + 1))).toThrow(EvaluationFailure);
});

test("the first group is told apart from a group that took no part", () => {
  expect(requireRegex("x(y?)").find("ax")).toEqual({ match: "x", group: "" });
  expect(requireRegex("x(y)?").find("ax")).toEqual({ match: "x", group: undefined });
  expect(requireRegex("x").find("a")).toBeUndefined();
});
