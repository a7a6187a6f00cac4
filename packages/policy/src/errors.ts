import "@countersign/core";
import type { PolicyIssue } from "./document/issue.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A policy document that cannot be used, with every problem and its place. */
    ERR_POLICY_INVALID: { file: string; issues: readonly PolicyIssue[] };
    /** An event envelope without the fields a decision rests on. */
    ERR_POLICY_ENVELOPE: { field: string };
  }
}
