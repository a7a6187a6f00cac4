import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { compileRegex } from "../regex/compile.js";
import { regexOfIRegexp } from "./iregexp.js";
import type { Comparable, FilterQuery, FunctionArgument, FunctionCall } from "./syntax.js";
import type { LogicalExpression, Segment } from "./syntax.js";
import { indexOf } from "./syntax.js";
import type { Value } from "./values.js";
import { compare, lengthOf, NOTHING } from "./values.js";

/** The context of a running query: the root, and a budget that each visited value uses. */
export type QueryContext = {
  readonly root: JsonValue;
  spend(steps: number): void;
  resolve(segments: readonly Segment[], from: JsonValue): Iterable<JsonValue>;
};

/** The test of filters over one root; queries inside a filter draw on the same budget. */
export function createFilter(
  context: QueryContext,
): (expression: LogicalExpression, current: JsonValue) => boolean {
  const filter = new Filter(context);
  return (expression, current) => filter.test(expression, current);
}

class Filter {
  readonly #context: QueryContext;

  constructor(context: QueryContext) {
    this.#context = context;
  }

  test(expression: LogicalExpression, current: JsonValue): boolean {
    this.#context.spend(1);
    switch (expression.type) {
      case "LogicalOrExpr":
        return this.test(expression.left, current) || this.test(expression.right, current);
      case "LogicalAndExpr":
        return this.test(expression.left, current) && this.test(expression.right, current);
      case "LogicalNotExpr":
        return !this.test(expression.expression, current);
      case "ComparisonExpr":
        return compare(
          expression.op,
          this.#comparable(expression.left, current),
          this.#comparable(expression.right, current),
        );
      default: {
        const tested = expression.expression;
        if (tested.type === "FunctionExpr") return this.#call(tested, current) === true;
        for (const _node of this.#nodes(tested, current)) return true;
        return false;
      }
    }
  }

  #nodes({ value: { segments, type } }: FilterQuery, current: JsonValue): Iterable<JsonValue> {
    const { resolve, root } = this.#context;
    return resolve(segments, type === "JsonPathQuery" ? root : current);
  }

  #comparable(side: Comparable, current: JsonValue): Value {
    if (side.type === "Literal") return side.value;
    if (side.type === "FunctionExpr") return this.#call(side, current);
    let value: JsonValue | undefined =
      side.type === "AbsSingularQuery" ? this.#context.root : current;
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
  }

  #argument(given: FunctionArgument | undefined, current: JsonValue): Value {
    if (given?.type === "Literal") return given.value;
    if (given?.type === "FunctionExpr") return this.#call(given, current);
    if (given?.type === "FilterQuery") {
      for (const node of this.#nodes(given, current)) return node;
    }
    return NOTHING;
  }

  #call({ name, arguments: given }: FunctionCall, current: JsonValue): Value {
    const [first, second] = given;
    if (name === "count" || name === "value") {
      const found = first?.type === "FilterQuery" ? [...this.#nodes(first, current)] : [];
      if (name === "count") return found.length;
      return found.length === 1 ? (found[0] as JsonValue) : NOTHING;
    }
    const subject = this.#argument(first, current);
    if (name === "length") return lengthOf(subject);
    return this.#matches(name, subject, this.#argument(second, current));
  }

  #matches(name: string, subject: Value, pattern: Value): boolean {
    if (typeof subject !== "string" || typeof pattern !== "string") return false;
    this.#context.spend(1 + Math.ceil(subject.length / 64));
    const { regex } = compileRegex(regexOfIRegexp(pattern, name === "match"));
    return regex?.test(subject) ?? false;
  }
}
