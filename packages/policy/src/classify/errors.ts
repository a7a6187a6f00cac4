import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An event envelope without the fields a decision rests on. */
    ERR_POLICY_ENVELOPE: { field: string };
  }
}
