import type { JsonValue } from "@countersign/core";
import { expect, test } from "vitest";
import { MAX_SEARCH_WORK } from "../regex/compile.js";
import { evaluateExpression } from "./expression.js";
import { evaluatePattern } from "./pattern.js";
import type { SemanticInput } from "./semantic.js";
import { evaluateSemantic } from "./semantic.js";

const message = { messages: [{ content: "hello" }, { content: "token=abc" }], n: 5, none: null };

test.each<[JsonValue, string, boolean]>([
  [{ contains: "token" }, "messages[*].content", true],
  [{ contains: "token", starts_with: "hello" }, "messages[*].content", false],
  [{ exists: true }, "messages[*].content", true],
  [{ exists: true }, "none", true],
  [{ exists: true }, "missing", false],
  [{ exists: false }, "missing", true],
  [{ exists: false }, "none", false],
  [{ exists: true, gt: 4 }, "n", true],
  [{ exists: false, gt: 4 }, "n", false],
  [{ exists: false, gt: 4 }, "missing", false],
  [{ contains: "" }, "missing", false],
  ["hello", "messages[*].content", true],
  [5, "n", true],
  [null, "none", true],
  [{ contains: '"content":"hello"' }, "", true],
])("pattern %j at %j matches: %s", (condition, target, expected) => {
  const outcome = evaluatePattern({ target, condition }, message);
  expect(outcome.result).toBe(expected ? "matched" : "not_matched");
});

test("a pattern names the place and the text it found", () => {
  const pattern = { target: "messages[*].content", condition: { regex: "token=\\w+" } };
  expect(evaluatePattern(pattern, message)).toEqual({
    result: "matched",
    detail: { path: "messages[1].content", text: "token=abc" },
  });
});

test("a short pattern takes the target it is given", () => {
  expect(
    evaluatePattern({ contains: "hello" }, message, { target: "messages[*].content" }).result,
  ).toBe("matched");
  expect(evaluatePattern({}, message).result).toBe("not_matched");
});

test("a search over the limit is an error of kind regex_timeout", () => {
  const long = { t: "b".repeat(Math.ceil(MAX_SEARCH_WORK / 4000)) };
  const outcome = evaluatePattern({ target: "t", condition: { regex: "(a?){1000}z" } }, long);
  expect(outcome).toMatchObject({ result: "error", error: { kind: "regex_timeout" } });
});

test.each([
  ["message.n == 5", "matched", undefined],
  ["message.n == 6", "not_matched", undefined],
  ["message.missing == 6", "error", "cel_error"],
  ["message.n", "error", "type_error"],
  ["'text'", "error", "type_error"],
  ["((", "error", "cel_error"],
])("expression %s: %s", (cel, result, kind) => {
  const outcome = evaluateExpression({ cel }, message);
  expect(outcome.result).toBe(result);
  expect(outcome.result === "error" ? outcome.error.kind : undefined).toBe(kind);
});

test("a variable whose path leads nowhere is null, and a null that is there is null too", () => {
  const variables = { a: "missing.deep", b: "none", c: "n", d: "" };
  const cel = "a == null && b == null && c == 5 && d.n == 5";
  expect(evaluateExpression({ cel, variables }, message).result).toBe("matched");
});

test("without an evaluator an expression is skipped", () => {
  expect(evaluateExpression({ cel: "true" }, message, { cel: null })).toMatchObject({
    result: "skipped",
  });
});

function scoring(score: (input: SemanticInput) => number) {
  const asked: SemanticInput[] = [];
  return {
    asked,
    evaluate(input: SemanticInput): number {
      asked.push(input);
      return score(input);
    },
  };
}

test("without a model a semantic indicator is skipped with a reason", () => {
  expect(evaluateSemantic({ intent: "leak" }, message)).toEqual({
    result: "skipped",
    reason: "no semantic evaluator",
  });
});

test("every value goes to the model as text, and the highest score decides", () => {
  const semantic = scoring(({ text }) => (text.includes("token") ? 0.9 : 0.1));
  const question = { target: "messages[*]", intent: "leak", intent_class: "data_exfiltration" };
  expect(evaluateSemantic(question, message, { semantic })).toEqual({
    result: "matched",
    detail: { path: "messages[1]", text: '{"content":"token=abc"}', score: 0.9 },
  });
  expect(semantic.asked[0]).toEqual({
    text: '{"content":"hello"}',
    intent: "leak",
    threshold: 0.7,
    intent_class: "data_exfiltration",
  });
});

test.each([
  [0.69, undefined, "not_matched"],
  [0.7, undefined, "matched"],
  [0.5, 0.5, "matched"],
  [0.49, 0.5, "not_matched"],
])("score %d against threshold %s: %s", (score, threshold, result) => {
  const semantic = scoring(() => score);
  const question = { intent: "leak", ...(threshold === undefined ? {} : { threshold }) };
  expect(evaluateSemantic(question, message, { semantic }).result).toBe(result);
});

test("a target that leads nowhere is not put to the model", () => {
  const semantic = scoring(() => 1);
  expect(evaluateSemantic({ target: "missing", intent: "x" }, message, { semantic }).result).toBe(
    "not_matched",
  );
  expect(semantic.asked).toEqual([]);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("secret detail");
    },
  ],
  ["answers with no number", () => Number.NaN],
  ["answers above one", () => 1.5],
])("a model that %s is an error that tells no secrets", (_title, score) => {
  const outcome = evaluateSemantic({ intent: "x" }, message, { semantic: scoring(score) });
  expect(outcome).toMatchObject({ result: "error", error: { kind: "semantic_error" } });
  expect(JSON.stringify(outcome)).not.toContain("secret detail");
});
