import type { JsonValue } from "@countersign/core";
import type { ValueSpec } from "@countersign/wire";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { canSatisfy } from "../model/can-satisfy.js";
import { canBeTrue } from "./can-be-true.js";
import { createCelEvaluator } from "./evaluator.js";

const KNOWN = new Set(["", "delta", "name", "list", "list.[*]", "list.[*].id", "free", "free.x"]);
const canHold = (path: readonly string[]): boolean => KNOWN.has(path.join("."));
const canHoldValue = (path: readonly string[], conditions: readonly JsonValue[]): boolean =>
  canHold(path) &&
  canSatisfy({ kind: path[0] === "free" ? "json" : "string" } as ValueSpec, conditions);
const variables = new Map([
  ["there", ["delta"]],
  ["nowhere", ["typo"]],
]);

test.each([
  ["true", true],
  ["false", false],
  ['message.delta == "x"', true],
  ['message.typo == "x"', false],
  ["has(message.delta)", true],
  ["has(message.typo)", false],
  ["!has(message.typo)", true],
  ["!message.typo", false],
  ['has(message.typo) && message.delta == "x"', false],
  ['has(message.typo) || message.delta == "x"', true],
  ["!(has(message.typo) && has(message.delta))", true],
  ["!(has(message.typo) || true)", false],
  ['has(message.typo) ? message.delta == "x" : false', false],
  ['has(message.typo) ? false : message.delta == "x"', true],
  ['message["delta"].contains("x")', true],
  ['message["typo"].contains("x")', false],
  ['message.list[0].id == "x"', true],
  ['message.list[0].typo == "x"', false],
  ['message.list.exists(item, item.anything == "x")', true],
  ['message.typo.exists(item, item == "x")', false],
  ['"delta" in message', true],
  ['"typo" in message', false],
  ['"x" in message.list', true],
  ['message.name in ["x", "y"]', true],
  ['message.typo in ["x", "y"]', false],
  ["size(message.delta) > 5", true],
  ["size(message.typo) > 5", false],
  ['there == "x"', true],
  ['nowhere == "x"', false],
  ['nowhere != "x"', true],
  ["nowhere == null", true],
  ['nowhere.contains("x")', false],
  ['(has(message.typo) ? message.typo : message.delta).contains("x")', true],
  ['(has(message.delta) ? message.typo : message.typo).contains("x")', false],
  ['(message.typo == 1 || message.delta == "x") == true', true],
  ["((", true],
  ["message.delta == 5", false],
  ["5 == message.delta", false],
  ["message.delta == true", false],
  ["there == 5", false],
  ["message.free == 5", true],
  ["message.delta != 5", true],
  ['message.delta == "a" && message.delta == "b"', false],
  ['message.delta == "a" && (message.name == "b" && there == "b")', false],
  ['!(message.delta != "a" || message.delta != "b")', false],
  ['message.delta == "a" || message.delta == "b"', true],
  ['message.delta == "ab" && message.delta.contains("b")', true],
  ['message.delta == "ab" && message.delta.startsWith("b")', false],
  ['message.delta in ["a", "b"] && message.delta == "c"', false],
  ['message.delta.matches("a^b")', false],
  ["message.free > 5 && message.free < 3", false],
  ["message.free > 5 && !(message.free >= 6)", true],
  ["!(message.free > 3) && message.free > 5", false],
  ["3 > message.free && 5 < message.free", false],
  ['message.list[0].id == "a" && message.list[1].id == "b"', true],
])("%s can be true: %s", (source, expected) => {
  expect(canBeTrue(source, { canHold, canHoldValue, variables })).toBe(expected);
});

test("choices inside choices and long chains are walked once", () => {
  let asked = 0;
  const counting = (path: readonly string[]): boolean => {
    asked += 1;
    return canHold(path);
  };
  const nested = Array.from({ length: 28 }).reduce<string>(
    (inner) => `(${inner} ? message.typo : message.typo2)`,
    "message.delta",
  );
  expect(canBeTrue(nested, { canHold: counting, canHoldValue, variables })).toBe(false);
  const chain = `unknown${".a".repeat(1000)} == 1`;
  expect(canBeTrue(chain, { canHold: counting, canHoldValue, variables })).toBe(true);
  expect(asked).toBeLessThan(200);
});

test("an expression that is true on a message can be true", () => {
  const field = fc.constantFrom("delta", "name", "typo");
  const { expression } = fc.letrec<{ expression: string }>((tie) => ({
    expression: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("true", "false"),
      field.map((name) => `has(message.${name})`),
      fc.tuple(field, fc.constantFrom("==", "!=")).map(([name, op]) => `message.${name} ${op} "x"`),
      field.map((name) => `message.${name} in ["y", "z"]`),
      field.map((name) => `(has(message.${name}) && message.${name} == "y")`),
      field.map((name) => `message[${JSON.stringify(name)}].contains("x")`),
      field.map((name) => `${JSON.stringify(name)} in message`),
      fc.constantFrom('nowhere == "x"', 'nowhere != "x"', "nowhere == null", "nowhere == there"),
      tie("expression").map((inner) => `!(${inner})`),
      fc
        .tuple(tie("expression"), fc.constantFrom("&&", "||", "=="), tie("expression"))
        .map(([one, op, other]) => `((${one}) ${op} (${other}))`),
      fc
        .tuple(tie("expression"), tie("expression"), tie("expression"))
        .map(([one, two, three]) => `((${one}) ? (${two}) : (${three}))`),
    ),
  }));
  const message = fc.record(
    { delta: fc.constantFrom("x", "y"), name: fc.constantFrom("x", "y") },
    { requiredKeys: [] },
  );
  const evaluator = createCelEvaluator();
  fc.assert(
    fc.property(expression, message, (source, content) => {
      const given = new Map<string, JsonValue>([
        ["message", { ...content }],
        ["there", content.delta ?? null],
        ["nowhere", null],
      ]);
      const answer = evaluator.evaluate(source, given);
      fc.pre(answer.kind === "value" && answer.value === true);
      expect([source, canBeTrue(source, { canHold, canHoldValue, variables })]).toEqual([
        source,
        true,
      ]);
    }),
    { numRuns: 500 },
  );
});
