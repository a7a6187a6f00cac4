import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The medium refused or lost a write; nothing of it was acknowledged. */
    ERR_STORE_WRITE: { operation: string; cause: string };
    /** The medium could not be read. */
    ERR_STORE_READ: { operation: string; cause: string };
    /** Stored bytes are not what was acknowledged; `seq` is the first entry in doubt. */
    ERR_STORE_CORRUPT: { seq: number; reason: string };
    /** Another process has this log open for writing. */
    ERR_STORE_LOCKED: { pid: number };
    /** The database holds no such log, and it was opened for reading only. */
    ERR_STORE_ABSENT: { log: string };
    /** The receipt key was rotated since this writer of a shared log started: what it signs would be invalid. */
    ERR_STORE_KEY_RETIRED: { size: number };
    /** The store is closed. */
    ERR_STORE_CLOSED: Record<string, never>;
    /** An entry, tile or bundle outside the acknowledged log was asked for. */
    ERR_STORE_RANGE: { size: number };
  }
}
