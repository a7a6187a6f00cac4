import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The key history does not fit the key in use. */
    ERR_KEYS_HISTORY: { file: string };
  }
}
