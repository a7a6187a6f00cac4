import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The key history does not fit the key in use. */
    ERR_KEYS_HISTORY: { file: string };
    /** A file that should hold a private key does not. */
    ERR_KEYS_UNREADABLE: { file: string };
    /** The store does not hold what this gateway signed for last. */
    ERR_KEYS_LOG_CHANGED: { size: number; file: string };
  }
}
