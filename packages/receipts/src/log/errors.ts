import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The log holds as many unfinished appends as it may. */
    ERR_LOG_QUEUE_FULL: { limit: number };
    /** The log is closed or closing. */
    ERR_LOG_CLOSED: Record<string, never>;
    /** The stored tree does not contain what its own signed checkpoint promised. */
    ERR_LOG_INCONSISTENT: { size: number; reason: string };
    /** What lies behind the last checkpoint was not written by a gateway of this log. */
    ERR_LOG_FOREIGN_TAIL: { size: number; covered: number };
  }
}
