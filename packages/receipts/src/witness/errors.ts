import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The body of an `add-checkpoint` request does not follow the C2SP grammar. */
    ERR_WITNESS_REQUEST: { reason: string };
    /** A file of a witness cannot be used. */
    ERR_WITNESS_FILE: { file: string; reason: string };
    /** Another process has the directory of this witness. */
    ERR_WITNESS_LOCKED: { directory: string };
    /** A witness knows entries of this log that the store does not hold. */
    ERR_WITNESS_LOG_CHANGED: { witness: string; size: number };
    /** The log has no recent checkpoint with enough cosignatures. */
    ERR_LOG_UNWITNESSED: { seconds: number };
  }
}
