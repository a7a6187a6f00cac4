import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The key history does not match the key in use. */
    ERR_KEYS_HISTORY: { file: string };
    /** A file that should hold a private key does not. */
    ERR_KEYS_UNREADABLE: { file: string };
    /** A key file could not be written; nothing was left behind. */
    ERR_KEYS_UNWRITABLE: { file: string };
    /** The store does not hold the last checkpoint that this gateway signed. */
    ERR_KEYS_LOG_CHANGED: { size: number; file: string };
    /** The log has entries, and the checkpoint next to the keys is missing. */
    ERR_KEYS_CHECKPOINT_MISSING: { file: string };
    /** The log in the store is signed by other keys. */
    ERR_KEYS_OTHER_LOG: { origin: string; directory: string };
  }
}
