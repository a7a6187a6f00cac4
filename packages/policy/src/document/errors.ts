import "@countersign/core";
import type { PolicyIssue } from "./issue.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A policy document that cannot be used, with every problem and its place. */
    ERR_POLICY_INVALID: { file: string; issues: readonly PolicyIssue[] };
  }
}
