import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { equalJson } from "../json/equal.js";
import { compileRegex } from "../regex/compile.js";
import type { QueryContext } from "./evaluate.js";
import { regexOfIRegexp } from "./iregexp.js";
import type { Comparable, FilterQuery, FunctionArgument, FunctionCall } from "./syntax.js";
import { indexOf } from "./syntax.js";
import type { Comparison, LogicalExpression } from "./syntax.js";

/** The absence of a value, which equals only itself (RFC 9535, section 2.3.5.2.2). */
const NOTHING = Symbol("nothing");
type Value = JsonValue | typeof NOTHING;

/** The test of filters over one root; queries inside a filter draw on the same budget. */
export function createFilter(
  context: QueryContext,
): (expression: LogicalExpression, current: JsonValue) => boolean {
  const test = (expression: LogicalExpression, current: JsonValue): boolean => {
    context.spend(1);
    switch (expression.type) {
      case "LogicalOrExpr":
        return test(expression.left, current) || test(expression.right, current);
      case "LogicalAndExpr":
        return test(expression.left, current) && test(expression.right, current);
      case "LogicalNotExpr":
        return !test(expression.expression, current);
      case "ComparisonExpr":
        return compare(
          expression.op,
          comparable(expression.left, current),
          comparable(expression.right, current),
        );
      default: {
        const tested = expression.expression;
        if (tested.type === "FunctionExpr") return call(tested, current) === true;
        for (const _node of nodes(tested, current)) return true;
        return false;
      }
    }
  };

  const nodes = (query: FilterQuery, current: JsonValue): Iterable<JsonValue> =>
    context.resolve(
      query.value.segments,
      query.value.type === "JsonPathQuery" ? context.root : current,
    );

  const comparable = (side: Comparable, current: JsonValue): Value => {
    if (side.type === "Literal") return side.value;
    if (side.type === "FunctionExpr") return call(side, current);
    let value: JsonValue | undefined = side.type === "AbsSingularQuery" ? context.root : current;
    for (const { node } of side.segments) {
      if (node.type === "IndexSelector") {
        value = Array.isArray(value) ? value.at(indexOf(node)) : undefined;
      } else {
        value =
          isJsonObject(value) && Object.hasOwn(value, node.value) ? value[node.value] : undefined;
      }
      if (value === undefined) return NOTHING;
    }
    return value;
  };

  const argument = (given: FunctionArgument | undefined, current: JsonValue): Value => {
    if (given?.type === "Literal") return given.value;
    if (given?.type === "FunctionExpr") return call(given, current);
    if (given?.type === "FilterQuery") {
      for (const node of nodes(given, current)) return node;
    }
    return NOTHING;
  };

  const call = ({ name, arguments: given }: FunctionCall, current: JsonValue): Value => {
    const [first, second] = given;
    if (name === "count" || name === "value") {
      const found = first?.type === "FilterQuery" ? [...nodes(first, current)] : [];
      if (name === "count") return found.length;
      return found.length === 1 ? (found[0] as JsonValue) : NOTHING;
    }
    const subject = argument(first, current);
    if (name === "length") return lengthOf(subject);
    return matches(name, subject, argument(second, current));
  };

  const matches = (name: string, subject: Value, pattern: Value): boolean => {
    if (typeof subject !== "string" || typeof pattern !== "string") return false;
    context.spend(1 + Math.ceil(subject.length / 64));
    const { regex } = compileRegex(regexOfIRegexp(pattern, name === "match"));
    return regex?.test(subject) ?? false;
  };

  return test;
}

function lengthOf(value: Value): Value {
  if (typeof value === "string") return [...value].length;
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : NOTHING;
}

function compare(operator: Comparison["op"], left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return equal(left, right);
    case "!=":
      return !equal(left, right);
    case "<":
      return less(left, right);
    case ">":
      return less(right, left);
    case "<=":
      return less(left, right) || equal(left, right);
    default:
      return less(right, left) || equal(left, right);
  }
}

function equal(left: Value, right: Value): boolean {
  if (left === NOTHING || right === NOTHING) return left === right;
  return equalJson(left, right);
}

function less(left: Value, right: Value): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  return typeof left === "string" && typeof right === "string" && lessByScalars(left, right);
}

/** RFC 9535 compares Unicode scalar values; JavaScript's `<` would compare UTF-16 code units. */
function lessByScalars(left: string, right: string): boolean {
  const one = left[Symbol.iterator]();
  const other = right[Symbol.iterator]();
  for (;;) {
    const a = one.next();
    const b = other.next();
    if (a.done === true || b.done === true) return a.done === true && b.done !== true;
    if (a.value !== b.value) return (a.value.codePointAt(0) ?? 0) < (b.value.codePointAt(0) ?? 0);
  }
}
