import { estimateInstructions } from "../regex/estimate.js";

/**
 * The common budget for the patterns, expressions and selectors of one document, in characters. Compiling one
 * needs up to 0.1 ms, so a document full of them would need minutes.
 */
export const MAX_EXPRESSION_COST = 32_768;

const INSTRUCTIONS_PER_CHARACTER = 16;

/** Counts what `validate` compiles. */
export type ExpressionBudget = {
  /** Whether an expression may still be compiled; also counts it. */
  afford(source: string, kind: "regex" | "other"): boolean;
};

/** The budget of one document. */
export function createExpressionBudget(): ExpressionBudget {
  let remaining = MAX_EXPRESSION_COST;
  return {
    afford(source, kind) {
      remaining -= source.length;
      if (kind === "regex") remaining -= estimateInstructions(source) / INSTRUCTIONS_PER_CHARACTER;
      return remaining >= 0;
    },
  };
}

/** The message for an expression that was not checked. */
export const OVER_BUDGET = "the expressions of this document together are too large";
