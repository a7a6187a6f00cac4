import type { JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import type { EvaluationError } from "../evaluate/evaluation-error.js";
import { evaluateExtractor } from "./extractor.js";

function extract(type: string, selector: string, message: JsonValue): string | undefined {
  const extractor = { name: "x", source: "response", type, selector };
  return evaluateExtractor(extractor, message, "response");
}

const message = { b: 1, a: { text: "id=42;", empty: "", list: [{ z: 1, y: 2 }, 3], no: null } };

test.each([
  ["$.a.text", "id=42;"],
  ["$.b", "1"],
  ["$.a.no", "null"],
  ["$.a.empty", ""],
  ["$.a.list", '[{"z":1,"y":2},3]'],
  ["$.a.list[*]", '{"z":1,"y":2}'],
  ["$.missing", undefined],
  ["$.constructor", undefined],
  ["not a path", undefined],
])("json_path %s takes %j", (selector, expected) => {
  expect(extract("json_path", selector, message)).toBe(expected);
});

test.each([
  ['"text":"id=(\\d+)', "42"],
  ['(b)":(1)', "b"],
  ["id=\\d+", undefined],
  ["(nothing)", undefined],
  ["id=(x?)42", ""],
  ["(never)?id", undefined],
  ["(", undefined],
])("regex %s takes %j", (selector, expected) => {
  expect(extract("regex", selector, message)).toBe(expected);
});

test("a message that is text is searched as it is", () => {
  expect(extract("regex", '^say "(\\w+)"$', 'say "hi"')).toBe("hi");
});

test("an extractor of the other direction takes nothing", () => {
  const extractor = { name: "x", source: "request", type: "json_path", selector: "$.b" };
  expect(evaluateExtractor(extractor, message, "response")).toBeUndefined();
  expect(evaluateExtractor(extractor, message, "request")).toBe("1");
});

test("a message nested too deeply, or a query that takes too long, is reported and takes nothing", () => {
  const errors: EvaluationError[] = [];
  const onError = (error: EvaluationError): void => {
    errors.push(error);
  };
  let deep: JsonValue = 1;
  for (let depth = 0; depth < 65; depth += 1) deep = [deep];
  const wide = Array.from({ length: 300 }, () => [[1], [2]]);
  const extractor = { name: "x", source: "response", type: "json_path", selector: "$" };
  expect(evaluateExtractor(extractor, deep, "response", { onError })).toBeUndefined();
  const slow = { ...extractor, selector: "$..[?$..[?$..[?@ == 9]]]" };
  expect(evaluateExtractor(slow, wide, "response", { onError })).toBeUndefined();
  expect(errors.map(({ kind }) => kind)).toEqual(["path_resolution", "path_resolution"]);
});
