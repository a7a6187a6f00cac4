import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { sortedText } from "../json/values.js";
import type { Pattern } from "../model/document.js";
import { conditionOf } from "../model/pattern.js";
import { compileCondition, presenceOf } from "../primitives/condition.js";
import { compileWildcardPath } from "../primitives/path.js";
import { requireRegex } from "../regex/compile.js";
import { EvaluationFailure } from "./evaluation-error.js";
import type { Outcome } from "./outcome.js";
import { ABSENT, NOT_MATCHED } from "./outcome.js";

/**
 * Looks for a value that satisfies a pattern. `exists` as the only operator asks whether the target leads
 * anywhere; otherwise one value has to satisfy the whole condition. A target without a value is not an error.
 */
export function evaluatePattern(
  pattern: Pattern,
  message: JsonValue,
  options: { readonly target?: string } = {},
): Outcome {
  return compilePattern(pattern, options.target)(message);
}

/** {@link evaluatePattern} taken apart once, for a caller that asks it of many messages. */
export function compilePattern(pattern: Pattern, target = ""): (message: JsonValue) => Outcome {
  const condition = conditionOf(pattern);
  if (condition === undefined) return () => NOT_MATCHED;
  const resolve = compileWildcardPath(pattern.target ?? target);
  const presence = presenceOf(condition);
  if (presence.alone) {
    return (message) => {
      const [first] = resolve(message);
      if (presence.exists !== (first !== undefined)) {
        return first === undefined ? ABSENT : NOT_MATCHED;
      }
      return { result: "matched", detail: first === undefined ? {} : { path: first.path } };
    };
  }
  if (presence.exists === false) return () => NOT_MATCHED;
  const holds = compileCondition(condition);
  return (message) => {
    try {
      const nodes = resolve(message);
      if (nodes.length === 0) return ABSENT;
      for (const { path, value } of nodes) {
        if (holds(value)) {
          return { result: "matched", detail: { path, text: matchedText(condition, value) } };
        }
      }
      return NOT_MATCHED;
    } catch (error) {
      if (error instanceof EvaluationFailure) return { result: "error", error: error.toError() };
      throw error;
    }
  };
}

/** Whether no value at all can satisfy a pattern: it asks for absence and for a value at once. */
export function isUnsatisfiable(pattern: Pattern): boolean {
  const condition = conditionOf(pattern);
  if (condition === undefined) return true;
  const presence = presenceOf(condition);
  return presence.exists === false && !presence.alone;
}

function matchedText(condition: JsonValue, value: JsonValue): string {
  const text = sortedText(value);
  const pattern = isJsonObject(condition) ? condition["regex"] : undefined;
  return typeof pattern === "string" ? (requireRegex(pattern).find(text)?.match ?? text) : text;
}
