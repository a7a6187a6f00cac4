import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { EvaluationError } from "../evaluate/evaluation-error.js";
import { EvaluationFailure } from "../evaluate/evaluation-error.js";
import { equalJson, sortedText } from "../json/values.js";
import { requireRegex } from "../regex/compile.js";

/** Receives what could not be evaluated; the answer is then `false`. */
export type ConditionOptions = { readonly onError?: (error: EvaluationError) => void };

type Operator = (operand: JsonValue, value: JsonValue) => boolean;

function onText(holds: (text: string, operand: string) => boolean): Operator {
  return (operand, value) => typeof operand === "string" && holds(sortedText(value), operand);
}

function onNumber(holds: (value: number, operand: number) => boolean): Operator {
  return (operand, value) =>
    typeof operand === "number" && typeof value === "number" && holds(value, operand);
}

const OPERATORS: ReadonlyMap<string, Operator> = new Map([
  ["contains", onText((text, part) => text.includes(part))],
  ["starts_with", onText((text, part) => text.startsWith(part))],
  ["ends_with", onText((text, part) => text.endsWith(part))],
  ["regex", onText((text, pattern) => requireRegex(pattern).test(text))],
  [
    "any_of",
    (operand, value) => Array.isArray(operand) && operand.some((item) => equalJson(item, value)),
  ],
  ["gt", onNumber((value, operand) => value > operand)],
  ["lt", onNumber((value, operand) => value < operand)],
  ["gte", onNumber((value, operand) => value >= operand)],
  ["lte", onNumber((value, operand) => value <= operand)],
]);

/** Whether a condition is an object of operators rather than a value to be equal to. */
export function isOperatorObject(condition: JsonValue): boolean {
  return (
    isJsonObject(condition) &&
    Object.keys(condition).some((key) => key === "exists" || OPERATORS.has(key))
  );
}

/** The presence that an operator object requires, and whether it has other operators. */
export function presenceOf(condition: JsonValue): {
  readonly exists: boolean | undefined;
  readonly alone: boolean;
} {
  if (!isJsonObject(condition) || typeof condition["exists"] !== "boolean") {
    return { exists: undefined, alone: false };
  }
  const others = Object.keys(condition).some((key) => OPERATORS.has(key));
  return { exists: condition["exists"], alone: !others };
}

/** The condition as a test of values that are there, taken apart once for any number of them. */
export function compileCondition(condition: JsonValue): (value: JsonValue) => boolean {
  if (!isJsonObject(condition) || !isOperatorObject(condition)) {
    return (value) => equalJson(condition, value);
  }
  const tests: ((value: JsonValue) => boolean)[] = [];
  for (const [key, operand] of Object.entries(condition)) {
    const operator = OPERATORS.get(key);
    if (operator !== undefined) tests.push((value) => operator(operand, value));
  }
  const [only] = tests;
  return only !== undefined && tests.length === 1
    ? only
    : (value) => tests.every((test) => test(value));
}

/** Comparing and printing recurse; a message that exhausts the stack has no answer. */
const TOO_DEEP: EvaluationError = {
  kind: "path_resolution",
  message: "the message is nested too deeply",
};

/** Runs an evaluation whose failure means `false` and is told to `onError`. */
export function falseOnFailure(evaluate: () => boolean, options: ConditionOptions): boolean {
  try {
    return evaluate();
  } catch (error) {
    if (error instanceof EvaluationFailure) options.onError?.(error.toError());
    else if (error instanceof RangeError) options.onError?.(TOO_DEEP);
    else throw error;
    return false;
  }
}

/**
 * Whether a value satisfies a condition: an object with operator keys asks that all of them hold, any
 * other value asks for deep equality. `exists` is about resolution and is the caller's business.
 */
export function evaluateCondition(
  condition: JsonValue,
  value: JsonValue,
  options: ConditionOptions = {},
): boolean {
  return falseOnFailure(() => compileCondition(condition)(value), options);
}
