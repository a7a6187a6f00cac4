import type { JsonObject } from "@countersign/core";
import type { Aspect } from "../classify/facts.js";
import type { Decision } from "./decision.js";
import type { DecisionFacts } from "./facts.js";
import type { Rule } from "./rule.js";

/** The result of one rule for one aspect of an event. */
export type TraceStep = {
  readonly rule: string;
  readonly block: string;
  readonly outcome: "passed" | "blocked" | "observed" | "failed";
  readonly reason?: string;
  /** The input of the rule: names and numbers, never payloads. */
  readonly saw: JsonObject;
};

/** A decision with every rule, including those after the one that blocked. */
export type Trace = { readonly decision: Decision; readonly steps: readonly TraceStep[] };

/** Evaluates every rule, through the same functions that decide. */
export function explainRules(
  rules: readonly Rule[],
  facts: DecisionFacts,
  decision: Decision,
): Trace {
  const steps = rules.flatMap((rule) => {
    const aspects: readonly Aspect[] = rule.perAspect
      ? [facts.event, ...(facts.event.also ?? [])]
      : [facts.event];
    return aspects.map((aspect) => explainStep(rule, facts, aspect));
  });
  return { decision, steps };
}

function explainStep(rule: Rule, facts: DecisionFacts, aspect: Aspect): TraceStep {
  const { id, block } = rule;
  try {
    const denial = rule.check(facts, aspect);
    const saw = rule.saw(facts, aspect);
    if (denial === undefined) return { rule: id, block, outcome: "passed", saw };
    const outcome = rule.mode === "enforce" && facts.mode !== "observe" ? "blocked" : "observed";
    return { rule: id, block, outcome, reason: denial.reason, saw };
  } catch {
    return { rule: id, block, outcome: "failed", saw: {} };
  }
}
