import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The database in which gateways share revocations did not respond. */
    ERR_REVOCATIONS_UNAVAILABLE: Record<string, never>;
    /** The database in which gateways share the budgets of capabilities did not respond. */
    ERR_BUDGETS_UNAVAILABLE: Record<string, never>;
    /** A revocation is in effect at this gateway, but could not be written to the revocation file. */
    ERR_REVOCATIONS_FILE: { file: string };
  }
}
