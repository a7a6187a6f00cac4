import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { JsonPathQuery } from "jsonpath-rfc9535/parser";
import { EvaluationFailure } from "../evaluate/evaluation-error.js";
import { createFilter } from "./filter.js";
import type { QueryContext } from "./filter.js";
import type { Segment, Selector } from "./syntax.js";

/** Values one query may look at. Nested filters multiply: three `$..*` inside each other are cubic. */
export const MAX_QUERY_STEPS = 200_000;

/**
 * The nodes of a query, lazily and in the order of RFC 9535.
 *
 * @throws EvaluationFailure when the query looks at more than {@link MAX_QUERY_STEPS} values
 */
export function evaluateJsonPath(query: JsonPathQuery, root: JsonValue): Iterable<JsonValue> {
  let remaining = MAX_QUERY_STEPS;
  const context: QueryContext = {
    root,
    spend(steps) {
      remaining -= steps;
      if (remaining < 0) {
        throw new EvaluationFailure(
          "path_resolution",
          `the query looks at more than ${MAX_QUERY_STEPS} values`,
        );
      }
    },
    resolve,
  };
  const test = createFilter(context);

  function* resolve(segments: readonly Segment[], from: JsonValue): Iterable<JsonValue> {
    const [segment, ...rest] = segments;
    if (segment === undefined) yield from;
    else for (const child of step(segment, from)) yield* resolve(rest, child);
  }

  function* step(segment: Segment, value: JsonValue): Iterable<JsonValue> {
    context.spend(1);
    const { node } = segment;
    if (node.type === "MemberNameShorthand") yield* named(value, node.value);
    else if (node.type === "WildcardSelector") yield* children(value);
    else for (const selector of node.selectors) yield* select(selector, value);
    if (segment.type === "DescendantSegment") {
      for (const child of children(value)) yield* step(segment, child);
    }
  }

  function* select(selector: Selector, value: JsonValue): Iterable<JsonValue> {
    switch (selector.type) {
      case "NameSelector":
        yield* named(value, selector.value);
        return;
      case "WildcardSelector":
        yield* children(value);
        return;
      case "IndexSelector":
        if (Array.isArray(value)) {
          const item = value.at(selector.value);
          if (item !== undefined) yield item;
        }
        return;
      case "SliceSelector":
        if (Array.isArray(value)) yield* slice(value, selector);
        return;
      default:
        for (const child of children(value)) if (test(selector.value, child)) yield child;
    }
  }

  function* children(value: JsonValue): Iterable<JsonValue> {
    if (typeof value !== "object" || value === null) return;
    for (const child of Array.isArray(value) ? value : Object.values(value)) {
      context.spend(1);
      yield child;
    }
  }

  return resolve(query.segments, root);
}

function* named(value: JsonValue, name: string): Iterable<JsonValue> {
  if (isJsonObject(value) && Object.hasOwn(value, name)) yield value[name] as JsonValue;
}

/** RFC 9535, section 2.3.4.2. */
function* slice(
  array: readonly JsonValue[],
  selector: Extract<Selector, { type: "SliceSelector" }>,
): Iterable<JsonValue> {
  const step = selector.step ?? 1;
  const size = array.length;
  if (step === 0) return;
  const from = normalizeBound(selector.start ?? (step > 0 ? 0 : size - 1), size);
  const to = normalizeBound(selector.end ?? (step > 0 ? size : -size - 1), size);
  if (step > 0) {
    const upper = clamp(to, 0, size);
    for (let at = clamp(from, 0, size); at < upper; at += step) yield array[at] as JsonValue;
  } else {
    const lower = clamp(to, -1, size - 1);
    for (let at = clamp(from, -1, size - 1); at > lower; at += step) yield array[at] as JsonValue;
  }
}

function normalizeBound(bound: number, size: number): number {
  return bound >= 0 ? bound : size + bound;
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(Math.max(value, low), high);
}
