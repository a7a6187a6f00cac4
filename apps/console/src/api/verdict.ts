import type { Entry } from "./responses.js";

/**
 * The outcome of an event. `would_block` is an event that the gateway forwarded in observe
 * mode although it violates a rule.
 */
export type Verdict = "allowed" | "blocked" | "would_block";

/** The label of each verdict. */
export const VERDICT_LABELS: Readonly<Record<Verdict, string>> = {
  allowed: "allowed",
  blocked: "blocked",
  would_block: "would block",
};

/** The verdict on a decision of the feed or on an entry of the log. */
export function verdictOf(decision: {
  readonly allowed: boolean;
  readonly rule?: string | undefined;
}): Verdict {
  if (!decision.allowed) return "blocked";
  return decision.rule === undefined ? "allowed" : "would_block";
}

/** The verdict that an entry of the log keeps. */
export function verdictOfEntry({ receipt, rule }: Entry): Verdict {
  return verdictOf({ allowed: receipt.allowed, rule });
}
