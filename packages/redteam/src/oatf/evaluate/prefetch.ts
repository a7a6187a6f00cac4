import { CountersignError } from "@countersign/core";
import type { NormalizedIndicator } from "../model/normalized.js";
import type { EvaluationOptions } from "./indicator.js";
import { evaluateIndicator } from "./indicator.js";
import { semanticInput } from "./semantic.js";
import type { AsyncSemanticEvaluator, SemanticEvaluator, SemanticInput } from "./semantic.js";
import type { TraceEntry } from "./trace.js";

/** Questions put to a model for one document. */
export const MAX_SEMANTIC_CALLS = 1000;
/** Examples of one indicator that a model is asked about. */
const MAX_EXAMPLES = 20;

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
  for (const indicator of indicators) {
    const asked = indicator.semantic;
    if (asked === undefined) continue;
    const recorder: SemanticEvaluator = {
      evaluate({ text }) {
        const input = semanticInput(asked, text);
        if (questions.size <= MAX_SEMANTIC_CALLS) questions.set(keyOf(input), input);
        return 0;
      },
    };
    // An unreachable threshold: the search scores every message and never stops early.
    const semantic = { ...asked, threshold: 1 };
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
  return JSON.stringify([
    input.text,
    input.intent,
    input.intent_class,
    input.threshold,
    input.examples,
  ]);
}

/**
 * Asks a model about the examples of semantic indicators, which are what makes its scores comparable: positive
 * ones have to reach the threshold, negative ones must not. Returns what it gets wrong, by indicator.
 */
export async function findMisjudgedExamples(
  indicators: readonly NormalizedIndicator[],
  evaluator: AsyncSemanticEvaluator,
): Promise<ReadonlyMap<string, string>> {
  const misjudged = new Map<string, string>();
  for (const { id, semantic } of indicators) {
    if (semantic?.examples === undefined) continue;
    const { positive = [], negative = [] } = semantic.examples;
    const labelled = [
      ...positive.map((text) => ({ text, matches: true })),
      ...negative.map((text) => ({ text, matches: false })),
    ].slice(0, MAX_EXAMPLES);
    let wrong = 0;
    for (const { text, matches } of labelled) {
      const input = semanticInput(semantic, text);
      const score = await evaluator.evaluate(input).catch(() => Number.NaN);
      if (Number.isNaN(score) || score >= input.threshold !== matches) wrong += 1;
    }
    if (wrong > 0) {
      misjudged.set(id, `the semantic evaluator misjudges ${wrong} of ${labelled.length} examples`);
    }
  }
  return misjudged;
}
