import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The ledger could not read or write a thread. */
    ERR_LEDGER_UNAVAILABLE: Record<string, never>;
    /** The log has entries, but its ledger is missing or was never used. */
    ERR_LEDGER_MISSING: { entries: number };
    /** A thread has more messages than the ledger keeps. */
    ERR_LEDGER_FULL: { limit: number };
  }
}
