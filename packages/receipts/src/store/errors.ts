import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The disk or database refused or lost a write; nothing of it was acknowledged. */
    ERR_STORE_WRITE: { operation: string; cause: string };
    /** The disk or database could not be read. */
    ERR_STORE_READ: { operation: string; cause: string };
    /**
     * Stored bytes differ from the acknowledged log; `seq` is the first possibly affected entry.
     */
    ERR_STORE_CORRUPT: { seq: number; reason: string };
    /** Another process has this log open for writing. */
    ERR_STORE_LOCKED: { pid: number };
    /** The database contains no such log, and the store was opened for reading only. */
    ERR_STORE_ABSENT: { log: string };
    /**
     * The receipt key was rotated since this writer of a shared log started: its signatures would
     * be invalid.
     */
    ERR_STORE_KEY_RETIRED: { size: number };
    /** A newer version of this program has changed the tables so that this one must not use them. */
    ERR_STORE_NEWER: { area: string; version: number; known: number };
    /** The store is closed. */
    ERR_STORE_CLOSED: Record<string, never>;
    /** A requested entry, tile or bundle is outside the acknowledged log. */
    ERR_STORE_RANGE: { size: number };
    /** A requested entry was removed because of its age; `first` is the first entry that is left. */
    ERR_STORE_REMOVED: { first: number };
  }
}
