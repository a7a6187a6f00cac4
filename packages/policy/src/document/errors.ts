import "@countersign/core";
import type { PolicyIssue } from "./issue.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An invalid policy document, with every problem and its position. */
    ERR_POLICY_INVALID: { file: string; issues: readonly PolicyIssue[] };
  }
}
