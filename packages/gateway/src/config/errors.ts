import type { DocumentIssue } from "@countersign/policy/yaml";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The configuration is invalid. */
    ERR_CONFIG_INVALID: { file: string; issues: readonly DocumentIssue[] };
    /** The configuration refers to an environment variable that is not set. */
    ERR_CONFIG_VARIABLE: { file: string; line: number; column: number; variable: string };
  }
}
