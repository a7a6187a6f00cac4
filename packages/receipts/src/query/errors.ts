import { CountersignError } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A query, count or cursor does not make sense. */
    ERR_QUERY_INVALID: { member: string; reason: string };
  }
}

/** A request that cannot be answered; it may come from a stranger through the control API. */
export function invalidQuery(member: string, reason: string): CountersignError {
  return new CountersignError("ERR_QUERY_INVALID", `the query's ${member} is ${reason}`, {
    member,
    reason,
  });
}
