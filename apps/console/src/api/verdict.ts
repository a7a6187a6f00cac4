import type { Entry } from "./answers.js";

/** What became of an event: let through, kept back, or let through although a rule spoke against it. */
export type Verdict = "allowed" | "blocked" | "noted";

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
