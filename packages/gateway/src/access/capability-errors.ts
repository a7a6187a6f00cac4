import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The database that gateways share their revocations in did not answer. */
    ERR_REVOCATIONS_UNAVAILABLE: Record<string, never>;
    /** The database in which gateways share the events that capabilities may open did not answer. */
    ERR_BUDGETS_UNAVAILABLE: Record<string, never>;
    /** A revocation counts here, but could not be kept in the revocation file. */
    ERR_REVOCATIONS_FILE: { file: string };
  }
}
