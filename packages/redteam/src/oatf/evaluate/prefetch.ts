import { CountersignError } from "@countersign/core";
import "../errors.js";
import type { NormalizedIndicator } from "../model/normalized.js";
import type { EvaluationOptions } from "./indicator.js";
import { evaluateIndicator } from "./indicator.js";
import type { AsyncSemanticEvaluator, SemanticEvaluator, SemanticInput } from "./semantic.js";
import type { TraceEntry } from "./trace.js";

/** Questions put to a model for one document. */
export const MAX_SEMANTIC_CALLS = 1000;

/**
 * Asks a model that answers later everything the indicators will want to know, and returns an evaluator
 * that has the answers at hand. A failed question is an error of the message it belongs to.
 *
 * @throws CountersignError ERR_OATF_LIMIT when more than {@link MAX_SEMANTIC_CALLS} questions come up
 */
export async function prefetchSemanticScores(
  indicators: readonly NormalizedIndicator[],
  trace: readonly TraceEntry[],
  evaluator: AsyncSemanticEvaluator,
  options: EvaluationOptions = {},
): Promise<SemanticEvaluator> {
  const questions = new Map<string, SemanticInput>();
  const recorder: SemanticEvaluator = {
    evaluate(input) {
      if (questions.size <= MAX_SEMANTIC_CALLS) questions.set(keyOf(input), input);
      return 0;
    },
  };
  for (const indicator of indicators) {
    if (indicator.semantic === undefined) continue;
    // A threshold nobody reaches: every message is looked at, none ends the search.
    const semantic = { ...indicator.semantic, threshold: 1 };
    evaluateIndicator({ ...indicator, semantic }, trace, { ...options, semantic: recorder });
  }
  if (questions.size > MAX_SEMANTIC_CALLS) {
    throw new CountersignError("ERR_OATF_LIMIT", "too many texts for the semantic evaluator", {
      limit: "semanticCalls",
      allowed: MAX_SEMANTIC_CALLS,
    });
  }
  const scores = new Map<string, number>();
  for (const [key, input] of questions) {
    try {
      scores.set(key, await evaluator.evaluate(input));
    } catch {
      scores.set(key, Number.NaN);
    }
  }
  return { evaluate: (input) => scores.get(keyOf(input)) ?? Number.NaN };
}

function keyOf(input: SemanticInput): string {
  return JSON.stringify([input.text, input.intent, input.intent_class, input.examples]);
}
