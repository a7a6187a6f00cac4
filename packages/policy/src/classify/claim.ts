import { CLASSIFICATION_TITLE, isAtLeastAsStrict } from "../vocabulary/classification.js";
import type { Aspect, EventFacts } from "./facts.js";
import type { Claim } from "./context.js";

/**
 * Lets a claim raise the class and name the instance of a component, nothing else. A lower class or
 * another component is a mismatch: the agent tries to choose its own rule.
 */
export function applyClaim(facts: EventFacts, claim: Claim | undefined): EventFacts {
  if (claim === undefined) return facts;
  const { classification: claimed, target } = claim;
  let next: EventFacts = facts;
  if (claimed !== undefined) {
    next = isAtLeastAsStrict(claimed, facts.derived)
      ? { ...next, claimed, classification: claimed }
      : { ...next, claimed, mismatch: classMismatch(claimed, facts) };
  }
  if (target !== undefined) {
    const own = facts.target;
    const fits =
      own === undefined ||
      (own.component_type === target.component_type &&
        (own.component_id === undefined || own.component_id === target.component_id));
    next = fits ? { ...next, target } : { ...next, mismatch: next.mismatch ?? TARGET_MISMATCH };
  }
  return next;
}

const TARGET_MISMATCH = "event target mismatch: supplied target differs from the derived one";

function classMismatch(claimed: keyof typeof CLASSIFICATION_TITLE, derived: Aspect): string {
  return `event classification mismatch: supplied ${CLASSIFICATION_TITLE[claimed]}, derived ${CLASSIFICATION_TITLE[derived.derived]}`;
}
