import type { CapabilityContext, CapabilityFacts } from "../model/facts.js";
import { CAPABILITY_STATUS_REASONS } from "@countersign/core";
import { refuse } from "../model/facts.js";
import type { RevocationSource } from "../revocation/revocation.js";
import type { AuthenticToken } from "../model/authentic.js";
import type { SpendingBook } from "../model/spending.js";

/** Time, revocations and counts at the time of the decision. */
export type EvaluationContext = {
  /** Seconds. */
  readonly now: number;
  readonly revocations: RevocationSource;
  readonly spending: SpendingBook;
};

/** The result for an authentic token in this context. The first reason against it wins. */
export function evaluateToken(
  token: AuthenticToken,
  context: CapabilityContext,
  { now, revocations, spending }: EvaluationContext,
): CapabilityFacts {
  const { id } = token;
  for (const ancestor of token.lineage) {
    if (!revocations.isRevoked(ancestor)) continue;
    const reason = CAPABILITY_STATUS_REASONS.revoked;
    return refuse(
      id,
      "revoked",
      ancestor === id ? reason : `${reason}: delegation ancestor has been revoked`,
    );
  }
  // Written so that a clock that returns NaN rejects.
  if (!(now >= token.notBefore)) return refuse(id, "not_yet_valid");
  if (!(now < token.expiresAt)) return refuse(id, "expired");
  const facts = token.admit(context, spending);
  if (facts.status !== "valid") return facts;
  for (const { id: counted, maxEvents } of token.allowances) {
    const spent = spending.spent(counted);
    if (spent >= maxEvents || (spent === 0 && spending.isFull(now))) return refuse(id, "exhausted");
  }
  return facts;
}
