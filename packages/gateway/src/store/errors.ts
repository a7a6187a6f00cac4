import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The keyed store did not answer a read or a write. */
    ERR_LEDGER_UNAVAILABLE: Record<string, never>;
    /** The log has entries, but its keyed store is missing or was never used. */
    ERR_LEDGER_MISSING: { entries: number };
  }
}
