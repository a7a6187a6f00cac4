import { expect, test } from "vitest";
import { canBeTrue } from "./can-be-true.js";

const KNOWN = new Set(["", "delta", "name", "list", "list.[*]", "list.[*].id", "free", "free.x"]);
const canHold = (path: readonly string[]): boolean => KNOWN.has(path.join("."));
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
  ["((", true],
])("%s can be true: %s", (source, expected) => {
  expect(canBeTrue(source, { canHold, variables })).toBe(expected);
});
