import type { JsonValue } from "@countersign/core";
import type { CelEvaluator } from "../cel/evaluator.js";
import { createCelEvaluator } from "../cel/evaluator.js";
import type { Expression } from "../model/document.js";
import { resolveSimplePath } from "../primitives/path.js";
import type { Outcome } from "./outcome.js";
import { NOT_MATCHED } from "./outcome.js";

let shipped: CelEvaluator | undefined;

/**
 * Asks a CEL expression about a message, which it sees as `message`. A variable whose path leads nowhere is
 * null; a field that is read and absent is an error, never a quiet no. `cel: null` disables evaluation.
 */
export function evaluateExpression(
  expression: Expression,
  message: JsonValue,
  options: { readonly cel?: CelEvaluator | null | undefined } = {},
): Outcome {
  if (options.cel === null) return { result: "skipped", reason: "no CEL evaluator" };
  const evaluator = options.cel ?? (shipped ??= createCelEvaluator());
  const variables = new Map<string, JsonValue>([["message", message]]);
  for (const [name, path] of Object.entries(expression.variables ?? {})) {
    variables.set(name, resolveSimplePath(path, message) ?? null);
  }
  const answer = evaluator.evaluate(expression.cel, variables);
  if (answer.kind === "error") {
    return { result: "error", error: { kind: "cel_error", message: answer.message } };
  }
  if (answer.value === true) return { result: "matched", detail: {} };
  if (answer.value === false) return NOT_MATCHED;
  return {
    result: "error",
    error: { kind: "type_error", message: "the expression is neither true nor false" },
  };
}
