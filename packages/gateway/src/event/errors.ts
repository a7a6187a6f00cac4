import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The run takes longer than its limit, in milliseconds. */
    ERR_RUN_TIME: { allowed: number };
    /** The agent sent no event for longer than the limit, in milliseconds, whatever else it sent. */
    ERR_RUN_SILENCE: { allowed: number };
    /** The agent sent more events than one run may have. */
    ERR_RUN_EVENTS: { allowed: number };
    /** The agent sent more bytes than one run may have. */
    ERR_RUN_BYTES: { allowed: number };
  }
}
