import type { JsonPathQuery } from "jsonpath-rfc9535/parser";

/** A step of a query: children, or all descendants. */
export type Segment = JsonPathQuery["segments"][number];
/** The selector of a step. */
export type Selection = Segment["node"];
/** One selector between brackets. */
export type Selector = Extract<Selection, { type: "BracketedSelection" }>["selectors"][number];
/** The test of a filter. */
export type LogicalExpression = Extract<Selector, { type: "FilterSelector" }>["value"];
/** `a == b` and its kin. */
export type Comparison = Extract<LogicalExpression, { type: "ComparisonExpr" }>;
/** One side of a comparison. */
export type Comparable = Comparison["left"];
/** A call such as `length(@.a)`. */
export type FunctionCall = Extract<Comparable, { type: "FunctionExpr" }>;
/** An argument of a call. */
export type FunctionArgument = FunctionCall["arguments"][number];
/** A query inside a filter. */
export type FilterQuery = Extract<FunctionArgument, { type: "FilterQuery" }>;

/**
 * The number of an index selector. Inside singular queries the parser wraps the selector in another one
 * of the same type, which its types do not say.
 */
export function indexOf(selector: {
  readonly value?: number;
  readonly selector?: unknown;
}): number {
  const inner = selector.selector;
  if (typeof inner === "object" && inner !== null && "value" in inner) return Number(inner.value);
  return selector.value ?? Number.NaN;
}
