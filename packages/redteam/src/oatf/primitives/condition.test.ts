import type { JsonValue } from "@countersign/core";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { EvaluationError } from "../evaluate/evaluation-error.js";
import { MAX_SEARCH_WORK } from "../regex/compile.js";
import { evaluateCondition } from "./condition.js";
import { evaluatePredicate } from "./predicate.js";

test.each<[JsonValue, JsonValue, boolean]>([
  [{ contains: "ell" }, "hello", true],
  [{ contains: "ELL" }, "hello", false],
  [{ contains: '{"a":1,"b":2}' }, { b: 2, a: 1 }, true],
  [{ contains: "4" }, 42, true],
  [{ contains: "ul" }, null, true],
  [{ starts_with: "he" }, "hello", true],
  [{ ends_with: "lo" }, "hello", true],
  [{ ends_with: "]" }, [1], true],
  [{ regex: "l+o$" }, "hello", true],
  [{ regex: "^L" }, "lo", false],
  [{ regex: "(?i)^L" }, "lo", true],
  [{ any_of: [1, { a: [2] }] }, { a: [2] }, true],
  [{ any_of: ["42"] }, 42, false],
  [{ gt: 3 }, 4, true],
  [{ gt: 4 }, 4, false],
  [{ gte: 4, lte: 4 }, 4, true],
  [{ lt: 5 }, "4", false],
  [{ gt: 0, lt: 10, contains: "7" }, 7, true],
  [{ gt: 0, lt: 10, contains: "8" }, 7, false],
  ["x", "x", true],
  [42, 42.0, true],
  ["42", 42, false],
  [null, null, true],
  [null, 0, false],
  [{ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [[1, 2], [2, 1], false],
  [{}, {}, true],
  [{}, [], false],
])("%j asked of %j is %s", (condition, value, expected) => {
  expect(evaluateCondition(condition, value)).toBe(expected);
});

test("equality is reflexive, symmetric and blind to the order of keys", () => {
  const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<JsonValue>;
  fc.assert(
    fc.property(json, json, (left, right) => {
      expect(evaluateCondition([left], [left])).toBe(true);
      expect(evaluateCondition([left], [right])).toBe(evaluateCondition([right], [left]));
    }),
  );
});

test.each<[string, Record<string, JsonValue>, JsonValue, boolean]>([
  ["an empty predicate", {}, {}, true],
  ["all entries hold", { a: 1, "b.c": { gt: 1 } }, { a: 1, b: { c: 2 } }, true],
  ["one entry fails", { a: 1, b: 2 }, { a: 1, b: 3 }, false],
  ["a path leads nowhere", { a: { contains: "" } }, {}, false],
  ["exists false alone, absent", { a: { exists: false } }, {}, true],
  ["exists false alone, present", { a: { exists: false } }, { a: 1 }, false],
  ["exists false alone, null", { a: { exists: false } }, { a: null }, false],
  ["exists true alone, present", { a: { exists: true } }, { a: null }, true],
  ["exists true alone, absent", { a: { exists: true } }, {}, false],
  ["exists true and more", { a: { exists: true, gt: 1 } }, { a: 2 }, true],
  ["exists false and more, present", { a: { exists: false, gt: 1 } }, { a: 2 }, false],
  ["exists false and more, absent", { a: { exists: false, gt: 1 } }, {}, false],
])("predicate: %s", (_title, predicate, message, expected) => {
  expect(evaluatePredicate(predicate, message)).toBe(expected);
});

test("a search over the work limit is false and told to the caller", () => {
  const errors: EvaluationError[] = [];
  const pattern = "(a?){1000}z";
  const text = "b".repeat(Math.ceil(MAX_SEARCH_WORK / 4000));
  const options = { onError: (error: EvaluationError) => errors.push(error) };
  expect(evaluateCondition({ regex: pattern }, text, options)).toBe(false);
  expect(evaluatePredicate({ a: { regex: pattern } }, { a: text }, options)).toBe(false);
  expect(errors.map(({ kind }) => kind)).toEqual(["regex_timeout", "regex_timeout"]);
});

test("a message nested without end is false and told to the caller, not a crash", () => {
  const nest = (): JsonValue => {
    let value: JsonValue = 1;
    for (let depth = 0; depth < 200_000; depth += 1) value = [value];
    return value;
  };
  const kinds: string[] = [];
  const options = { onError: ({ kind }: EvaluationError) => kinds.push(kind) };
  expect(evaluateCondition(nest(), nest(), options)).toBe(false);
  expect(evaluatePredicate({ a: { contains: "x" } }, { a: nest() }, options)).toBe(false);
  expect(kinds).toEqual(["path_resolution", "path_resolution"]);
});
