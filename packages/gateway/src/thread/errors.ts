import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** What is known of a thread could not be read or written. */
    ERR_LEDGER_UNAVAILABLE: Record<string, never>;
    /** The log has entries, and the ledger beside it is missing or was never used. */
    ERR_LEDGER_MISSING: { entries: number };
    /** A thread has more messages than the ledger keeps. */
    ERR_LEDGER_FULL: { limit: number };
  }
}
