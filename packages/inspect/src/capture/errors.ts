import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The session to be recorded answered with an error status. */
    ERR_INSPECT_SESSION_REFUSED: { status: number };
  }
}
