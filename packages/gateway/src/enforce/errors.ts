import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An id or a name of an event or an input is longer than the log may carry. */
    ERR_ID_TOO_LONG: { member: string; limit: number };
  }
}
