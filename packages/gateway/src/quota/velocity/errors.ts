import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The database in which gateways count together did not answer. */
    ERR_VELOCITY_UNAVAILABLE: Record<string, never>;
  }
}
