import { CountersignError, isCountersignError } from "@countersign/core";
import "./errors.js";

/** The system's error code (`ENOSPC`, `57P01`, `SQLITE_FULL`); never its message. */
function causeOf(error: unknown): string {
  // All SQLite errors share one `code`; `sqliteCodeName` is specific.
  if (typeof error === "object" && error !== null && "sqliteCodeName" in error) {
    return String(error.sqliteCodeName);
  }
  if (typeof error === "object" && error !== null && "code" in error) return String(error.code);
  return error instanceof Error ? error.name : "unknown";
}

/** A failed write as a coded error; coded errors are returned unchanged. */
export function writeFailure(operation: string, error: unknown): Error {
  if (isCountersignError(error)) return error;
  const cause = causeOf(error);
  return new CountersignError("ERR_STORE_WRITE", `the store failed to ${operation}: ${cause}`, {
    operation,
    cause,
  });
}

/** A failed read as a coded error; coded errors are returned unchanged. */
export function readFailure(operation: string, error: unknown): Error {
  if (isCountersignError(error)) return error;
  const cause = causeOf(error);
  return new CountersignError("ERR_STORE_READ", `the store failed to ${operation}: ${cause}`, {
    operation,
    cause,
  });
}

/** Stored bytes contradict the acknowledged log. */
export function corrupt(seq: number, reason: string): CountersignError {
  return new CountersignError(
    "ERR_STORE_CORRUPT",
    `stored log is damaged at entry ${seq}: ${reason}`,
    {
      seq,
      reason,
    },
  );
}

/** The receipt key was rotated while this writer was disconnected. */
export function keyRetired(size: number): CountersignError {
  return new CountersignError(
    "ERR_STORE_KEY_RETIRED",
    "the receipt key of this log was rotated since this gateway started; start it again with the newest key directory",
    { size },
  );
}

/** The error of every call after `close`. */
export function closedStore(): CountersignError {
  return new CountersignError("ERR_STORE_CLOSED", "the receipt store is closed", {});
}

/** The request is outside the acknowledged log. */
export function outOfRange(size: number): CountersignError {
  return new CountersignError("ERR_STORE_RANGE", "that part of the log does not exist", { size });
}

/** The request is about entries that were removed because of their age. */
export function removedEntries(first: number): CountersignError {
  return new CountersignError(
    "ERR_STORE_REMOVED",
    `entries before ${first} were removed because of their age (receipts.keep)`,
    { first },
  );
}
