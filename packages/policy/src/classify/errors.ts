import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An event envelope lacks a field that the decision needs. */
    ERR_POLICY_ENVELOPE: { field: string };
  }
}
