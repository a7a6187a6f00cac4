import { MAX_FURTHER_RULES } from "@countersign/policy";
import type { Decision, Denial, OnBlock, Permit } from "@countersign/policy";
import type { OwnRuleId } from "../../event/own-rules.js";
import type { Withheld } from "../../event/withheld-register.js";

/** The end of a delivered unit passes although the rest is withheld: it carries nothing but an end. */
export const CLOSE: Permit = Object.freeze({ allow: true });

/** A block by a rule of the gateway. The policy may set what a block does, and whether the rule only observes; see `rule.ts`. */
export function ownDenial(rule: OwnRuleId, reason: string, onBlock: OnBlock = "drop"): Denial {
  return { allow: false, rule, reason, reasonCode: "evaluation_failed", onBlock };
}

/** The block of an event whose unit is withheld, by the rule that withheld the unit. */
export function withheldDenial({ rule, reason }: Withheld): Denial {
  return { allow: false, rule, reason, reasonCode: "evaluation_failed", onBlock: "drop" };
}

/** The denial in a decision: a block, or the block that enforce mode would make. */
export function denialIn(decision: Decision): Denial | undefined {
  return decision.allow ? decision.observed : decision;
}

/** Every rule that would have blocked a permitted request or event in enforce mode. */
export function wouldBlockRulesOf({ observed, further = [] }: Permit): string[] {
  return observed === undefined ? [] : [observed.rule, ...further];
}

/** Creates a permit that names the first denial of observe mode and the rules of the others. */
export function permitWithObserved(first: Denial, rules: readonly string[] = []): Permit {
  const others = new Set(rules.filter((rule) => rule !== first.rule));
  const further = [...others].slice(0, MAX_FURTHER_RULES);
  return { allow: true, observed: first, ...(further.length === 0 ? {} : { further }) };
}
