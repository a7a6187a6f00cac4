import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The key history does not fit the key in use. */
    ERR_KEYS_HISTORY: { file: string };
    /** A file that should hold a private key does not. */
    ERR_KEYS_UNREADABLE: { file: string };
    /** A key, or what goes with it, could not be written; nothing was left behind. */
    ERR_KEYS_UNWRITABLE: { file: string };
    /** The store does not hold what this gateway signed for last. */
    ERR_KEYS_LOG_CHANGED: { size: number; file: string };
    /** The log has entries, and the checkpoint that is kept beside the keys is missing. */
    ERR_KEYS_CHECKPOINT_MISSING: { file: string };
    /** The log in the store is signed by other keys. */
    ERR_KEYS_OTHER_LOG: { origin: string; directory: string };
  }
}
