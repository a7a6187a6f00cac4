import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The database that gateways share their revocations in did not answer. */
    ERR_REVOCATIONS_UNAVAILABLE: Record<string, never>;
  }
}
