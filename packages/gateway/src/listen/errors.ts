import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A request's body came too slowly. */
    ERR_REQUEST_TIMEOUT: { milliseconds: number };
  }
}
