import type { JsonValue } from "@countersign/core";
import { plainText } from "../json/values.js";
import type { Semantic } from "../model/document.js";
import { resolveWildcardNodes } from "../primitives/path.js";
import type { MatchDetail, Outcome } from "./outcome.js";
import { ABSENT, NOT_MATCHED } from "./outcome.js";

/** The score from which a text counts, when the document names none. */
export const DEFAULT_THRESHOLD = 0.7;

/** The question to a model. */
export type SemanticInput = {
  readonly text: string;
  readonly intent: string;
  readonly intent_class?: string;
  /** The score from which the text counts as a match. */
  readonly threshold: number;
  readonly examples?: Semantic["examples"];
};

/** A model that scores a text from 0 to 1. None is shipped. */
export type SemanticEvaluator = { evaluate(input: SemanticInput): number };

/** A model that takes its time; see `prefetchSemanticScores`. */
export type AsyncSemanticEvaluator = { evaluate(input: SemanticInput): Promise<number> };

/** Writes content for `synthesize`, which OATF 0.1 reserves; declared by the contract, never called. */
export type GenerationProvider = { generate(prompt: string): Promise<JsonValue> };

/**
 * Asks a model about every value at the target; the highest score decides. Without a model the answer is
 * `skipped`; a target that leads nowhere is never put to it.
 */
export function evaluateSemantic(
  semantic: Semantic,
  message: JsonValue,
  options: { readonly semantic?: SemanticEvaluator | undefined; readonly target?: string } = {},
): Outcome {
  if (options.semantic === undefined) return { result: "skipped", reason: "no semantic evaluator" };
  let best: (MatchDetail & { readonly score: number }) | undefined;
  try {
    for (const { path, value } of resolveWildcardNodes(
      semantic.target ?? options.target ?? "",
      message,
    )) {
      const text = plainText(value);
      const score = options.semantic.evaluate(semanticInput(semantic, text));
      if (!(score >= 0 && score <= 1)) throw new RangeError("the score is not between 0 and 1");
      if (best === undefined || score > best.score) best = { path, text, score };
    }
  } catch (error) {
    const message = error instanceof RangeError ? error.message : "the semantic evaluator failed";
    return { result: "error", error: { kind: "semantic_error", message } };
  }
  if (best === undefined) return ABSENT;
  if (best.score < (semantic.threshold ?? DEFAULT_THRESHOLD)) return NOT_MATCHED;
  return { result: "matched", detail: best };
}

/** The question to an evaluator about one text. */
export function semanticInput(semantic: Semantic, text: string): SemanticInput {
  return {
    text,
    intent: semantic.intent,
    ...(semantic.intent_class === undefined ? {} : { intent_class: semantic.intent_class }),
    threshold: semantic.threshold ?? DEFAULT_THRESHOLD,
    ...(semantic.examples === undefined ? {} : { examples: semantic.examples }),
  };
}
