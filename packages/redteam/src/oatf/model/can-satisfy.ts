import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { ValueSpec } from "@countersign/wire";
import { compileCondition, isOperatorObject } from "../primitives/condition.js";
import { compileRegex } from "../regex/compile.js";

/**
 * Whether some value of a kind can satisfy all conditions at once: types, ranges, values of a closed set, texts to be
 * equal to, patterns that match nothing. Errs on the side of yes: whether a text can satisfy several patterns, or a
 * pattern and a beginning, is not decided.
 */
export function canSatisfy(spec: ValueSpec, conditions: readonly JsonValue[]): boolean {
  const candidates = candidatesOf(spec, conditions);
  if (candidates !== undefined) {
    return candidates.some((value) => canBe(spec, value) && holdsAll(conditions, value));
  }
  const operators = conditions.flatMap((condition) =>
    isJsonObject(condition) ? Object.entries(condition) : [],
  );
  return (
    operators.every(([name, operand]) => canHoldFor(spec, name, operand)) &&
    isRangeOpen(spec, operators)
  );
}

/** The only values that come into question, where conditions or the kind of value name them. */
function candidatesOf(
  spec: ValueSpec,
  conditions: readonly JsonValue[],
): readonly JsonValue[] | undefined {
  for (const condition of conditions) {
    if (!isOperatorObject(condition)) return [condition];
    const choices = isJsonObject(condition) ? condition["any_of"] : undefined;
    if (choices !== undefined) return Array.isArray(choices) ? choices : [];
  }
  if (spec.kind === "enum") return spec.values;
  return spec.kind === "boolean" ? [true, false] : undefined;
}

function holdsAll(conditions: readonly JsonValue[], value: JsonValue): boolean {
  try {
    return conditions.every((condition) => compileCondition(condition)(value));
  } catch {
    // The evaluation reports a pattern that fails.
    return true;
  }
}

/** Whether a field of a kind can have a value. */
function canBe(spec: ValueSpec, value: JsonValue): boolean {
  if (value === null) return true;
  switch (spec.kind) {
    case "json":
      return true;
    case "string":
      return typeof value === "string";
    case "pointer":
      return typeof value === "string" && POINTER.test(value);
    case "boolean":
      return typeof value === "boolean";
    case "integer":
      return Number.isSafeInteger(value) && (value as number) >= spec.minimum;
    case "enum":
      return typeof value === "string" && spec.values.includes(value);
    case "list":
      return Array.isArray(value) && value.every((item) => canBe(spec.element, item));
    case "stringOrList":
      return typeof value === "string" || Array.isArray(value);
    default:
      return isJsonObject(value);
  }
}

/** A JSON pointer is empty or starts with a slash. */
const POINTER = /^(?:\/|$)/;
const ORDERS: ReadonlySet<string> = new Set(["gt", "gte", "lt", "lte"]);
const TEXTS: ReadonlySet<string> = new Set(["contains", "starts_with", "ends_with", "regex"]);

/** Whether one operator can hold for a value of a kind. */
function canHoldFor(spec: ValueSpec, name: string, operand: JsonValue): boolean {
  if (ORDERS.has(name)) {
    return typeof operand === "number" && (spec.kind === "integer" || spec.kind === "json");
  }
  if (!TEXTS.has(name)) return true;
  if (typeof operand !== "string") return false;
  if (name === "regex") return compileRegex(operand).regex?.canMatch !== false;
  if (operand === "" || spec.kind === "json") return true;
  if (spec.kind === "integer") return /^-?\d*$/.test(operand);
  const isObject = spec.kind === "object" || spec.kind === "shape" || spec.kind === "union";
  if (name === "starts_with") {
    if (spec.kind === "pointer") return POINTER.test(operand);
    if (isObject) return operand.startsWith("{");
    return spec.kind !== "list" || operand.startsWith("[");
  }
  if (name === "ends_with") {
    if (isObject) return operand.endsWith("}");
    return spec.kind !== "list" || operand.endsWith("]");
  }
  return true;
}

/** Whether the orders leave a number, whose text has no characters but those of numbers. */
function isRangeOpen(spec: ValueSpec, operators: readonly [string, JsonValue][]): boolean {
  const orders = operators.filter(([name]) => ORDERS.has(name));
  if (orders.length === 0) return true;
  const texts = operators.filter(([name]) => TEXTS.has(name) && name !== "regex");
  if (texts.some(([, text]) => typeof text === "string" && !/^[-+.e\d]*$/.test(text))) return false;
  const bounds = (names: string): number[] =>
    orders.filter(([name]) => name.startsWith(names)).map(([, operand]) => Number(operand));
  const isInteger = spec.kind === "integer";
  const low = Math.max(isInteger ? spec.minimum : -Infinity, ...bounds("g"));
  const high = Math.min(...bounds("l"));
  if (!isInteger && low < high) return true;
  // Of the numbers that are left, the lowest decides: one of these two for integers, the bound itself for others.
  return [Math.ceil(low), Math.floor(low) + 1, low].some(
    (value) =>
      (!isInteger || Number.isInteger(value)) &&
      orders.every(([name, operand]) => compileCondition({ [name]: operand })(value)),
  );
}
