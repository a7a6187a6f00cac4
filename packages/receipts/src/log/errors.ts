import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The log holds the maximum number of pending appends. */
    ERR_LOG_QUEUE_FULL: { limit: number };
    /** The log is closed or closing. */
    ERR_LOG_CLOSED: Record<string, never>;
    /** The stored tree contradicts its own signed checkpoint. */
    ERR_LOG_INCONSISTENT: { size: number; reason: string };
    /** The entries after the last checkpoint were not written by a gateway of this log. */
    ERR_LOG_FOREIGN_TAIL: { size: number; covered: number };
  }
}
