import type { JsonValue } from "@countersign/core";
import { isObject } from "../json/access.js";
import { sortedText } from "../json/text.js";
import type { Pattern } from "../model/document.js";
import { conditionOf } from "../model/pattern.js";
import { holds, presenceOf } from "../primitives/condition.js";
import { resolveWildcardNodes } from "../primitives/path.js";
import { requireRegex } from "../regex/compile.js";
import { EvaluationFailure } from "./evaluation-error.js";
import type { Outcome } from "./outcome.js";
import { NOT_MATCHED } from "./outcome.js";

/**
 * Looks for a value that satisfies a pattern. `exists` as the only operator asks whether the target leads
 * anywhere; otherwise one value has to satisfy the whole condition. A target that leads nowhere is no error.
 */
export function evaluatePattern(
  pattern: Pattern,
  message: JsonValue,
  options: { readonly target?: string } = {},
): Outcome {
  const condition = conditionOf(pattern);
  if (condition === undefined) return NOT_MATCHED;
  const nodes = resolveWildcardNodes(pattern.target ?? options.target ?? "", message);
  const presence = presenceOf(condition);
  if (presence.alone) {
    if (presence.exists !== nodes.length > 0) return NOT_MATCHED;
    const [first] = nodes;
    return { result: "matched", detail: first === undefined ? {} : { path: first.path } };
  }
  if (presence.exists === false) return NOT_MATCHED;
  try {
    for (const { path, value } of nodes) {
      if (holds(condition, value)) {
        return { result: "matched", detail: { path, text: matchedText(condition, value) } };
      }
    }
    return NOT_MATCHED;
  } catch (error) {
    if (error instanceof EvaluationFailure) return { result: "error", error: error.toError() };
    throw error;
  }
}

function matchedText(condition: JsonValue, value: JsonValue): string {
  const text = sortedText(value);
  const pattern = isObject(condition) ? condition["regex"] : undefined;
  return typeof pattern === "string" ? (requireRegex(pattern).find(text)?.match ?? text) : text;
}
