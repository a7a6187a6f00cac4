import { CountersignError } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A query, count or cursor is invalid. */
    ERR_QUERY_INVALID: { member: string; reason: string };
  }
}

/** An invalid request; it may come from an untrusted client of the control API. */
export function invalidQuery(member: string, reason: string): CountersignError {
  return new CountersignError("ERR_QUERY_INVALID", `the query's ${member} is ${reason}`, {
    member,
    reason,
  });
}
