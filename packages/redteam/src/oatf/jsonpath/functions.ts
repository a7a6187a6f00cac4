import type { JsonPathQuery } from "jsonpath-rfc9535/parser";
import type {
  Comparable,
  FilterQuery,
  FunctionArgument,
  FunctionCall,
  LogicalExpression,
  Segment,
} from "./syntax.js";
import { indexOf } from "./syntax.js";

/** The three types of RFC 9535, section 2.4.1. */
type DeclaredType = "value" | "logical" | "nodes";

/** Parameters and result of the five functions the RFC defines. */
const SIGNATURES: ReadonlyMap<
  string,
  { readonly parameters: readonly DeclaredType[]; readonly result: DeclaredType }
> = new Map([
  ["length", { parameters: ["value"], result: "value" }],
  ["count", { parameters: ["nodes"], result: "value" }],
  ["value", { parameters: ["nodes"], result: "value" }],
  ["match", { parameters: ["value", "value"], result: "logical" }],
  ["search", { parameters: ["value", "value"], result: "logical" }],
]);

/** Whether a query can give at most one node. */
export function isSingular(query: FilterQuery["value"]): boolean {
  return query.segments.every(({ type, node }) => {
    if (type !== "ChildSegment") return false;
    if (node.type === "MemberNameShorthand") return true;
    if (node.type !== "BracketedSelection" || node.selectors.length !== 1) return false;
    const kind = node.selectors[0]?.type;
    return kind === "NameSelector" || kind === "IndexSelector";
  });
}

/** Throws a sentence for the author when a call is unknown or its arguments are not well typed. */
export function checkFunctions(query: JsonPathQuery): void {
  checkSegments(query.segments);
}

function checkSegments(segments: readonly Segment[]): void {
  for (const { node } of segments) {
    if (node.type !== "BracketedSelection") continue;
    for (const selector of node.selectors) {
      if (selector.type === "FilterSelector") checkLogical(selector.value);
      else if (selector.type === "IndexSelector") checkRange(selector.value);
      else if (selector.type === "SliceSelector") {
        checkRange(selector.start, selector.end, selector.step);
      }
    }
  }
}

/** RFC 9535, section 2.1: integers stay within the exact range of I-JSON. */
function checkRange(...numbers: readonly (number | null)[]): void {
  if (!numbers.every((number) => number === null || Number.isSafeInteger(number))) {
    throw new RangeError("an index is outside the range of exact integers");
  }
}

function checkLogical(expression: LogicalExpression): void {
  switch (expression.type) {
    case "LogicalOrExpr":
    case "LogicalAndExpr":
      checkLogical(expression.left);
      checkLogical(expression.right);
      return;
    case "LogicalNotExpr":
      checkLogical(expression.expression);
      return;
    case "ComparisonExpr":
      checkComparable(expression.left);
      checkComparable(expression.right);
      return;
    case "TestExpr":
      if (expression.expression.type === "FilterQuery") {
        checkSegments(expression.expression.value.segments);
      } else if (checkCall(expression.expression) === "value") {
        throw new TypeError(`the result of ${expression.expression.name}() must be compared`);
      }
      return;
    default:
      throw new TypeError("not an expression of RFC 9535");
  }
}

function checkComparable(comparable: Comparable): void {
  if (comparable.type === "Literal") return;
  if (comparable.type !== "FunctionExpr") {
    for (const { node } of comparable.segments) {
      if (node.type === "IndexSelector") checkRange(indexOf(node));
    }
    return;
  }
  if (checkCall(comparable) !== "value") {
    throw new TypeError(`the result of ${comparable.name}() cannot be compared`);
  }
}

function checkCall(call: FunctionCall): DeclaredType {
  const signature = SIGNATURES.get(call.name);
  if (signature === undefined) {
    throw new TypeError(`unknown function ${call.name.slice(0, 32)}()`);
  }
  if (call.arguments.length !== signature.parameters.length) {
    throw new TypeError(`${call.name}() takes ${signature.parameters.length} argument(s)`);
  }
  for (const [index, argument] of call.arguments.entries()) {
    if (!accepts(signature.parameters[index], argument)) {
      throw new TypeError(`argument ${index + 1} of ${call.name}() has the wrong type`);
    }
  }
  return signature.result;
}

function accepts(parameter: DeclaredType | undefined, argument: FunctionArgument): boolean {
  switch (argument.type) {
    case "Literal":
      return parameter === "value";
    case "FilterQuery":
      checkSegments(argument.value.segments);
      return parameter === "nodes" || (parameter === "value" && isSingular(argument.value));
    case "FunctionExpr":
      return checkCall(argument) === parameter;
    default:
      checkLogical(argument);
      return parameter === "logical";
  }
}
