import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The database of the shared counts did not answer. */
    ERR_VELOCITY_UNAVAILABLE: Record<string, never>;
  }
}
