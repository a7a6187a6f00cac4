import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A thread has more messages than the ledger keeps. */
    ERR_LEDGER_FULL: { limit: number };
  }
}
