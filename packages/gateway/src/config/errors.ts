import type { DocumentIssue } from "@countersign/policy/yaml";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The configuration does not load. */
    ERR_CONFIG_INVALID: { file: string; issues: readonly DocumentIssue[] };
    /** The configuration names an environment variable that is not set. */
    ERR_CONFIG_VARIABLE: { file: string; line: number; column: number; variable: string };
  }
}
