import type { Entry } from "./responses.js";

/**
 * The outcome of an event. `noted` is the API's name for an event that the gateway forwarded in observe
 * mode although it violates a rule.
 */
export type Verdict = "allowed" | "blocked" | "noted";

/** The label of each verdict. */
export const VERDICT_LABELS: Readonly<Record<Verdict, string>> = {
  allowed: "allowed",
  blocked: "blocked",
  noted: "would block",
};

/** The verdict on a decision of the feed or on an entry of the log. */
export function verdictOf(decision: {
  readonly allowed: boolean;
  readonly rule?: string;
}): Verdict {
  if (!decision.allowed) return "blocked";
  return decision.rule === undefined ? "allowed" : "noted";
}

/** The verdict that an entry of the log keeps. */
export function verdictOfEntry({ receipt, rule }: Entry): Verdict {
  return verdictOf({ allowed: receipt.allowed, ...(rule === undefined ? {} : { rule }) });
}
