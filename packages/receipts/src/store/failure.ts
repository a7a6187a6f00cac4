import { CountersignError, isCountersignError } from "@countersign/core";
import "./errors.js";

/** The system's short name for what went wrong (`ENOSPC`, `57P01`, `SQLITE_FULL`); never its message. */
function causeOf(error: unknown): string {
  // SQLite calls all of its own by one code; what went wrong has another name.
  if (typeof error === "object" && error !== null && "sqliteCodeName" in error) {
    return String(error.sqliteCodeName);
  }
  if (typeof error === "object" && error !== null && "code" in error) return String(error.code);
  return error instanceof Error ? error.name : "unknown";
}

/** A failure of the medium as a coded error; coded errors pass as they are. */
export function writeFailure(operation: string, error: unknown): Error {
  if (isCountersignError(error)) return error;
  const cause = causeOf(error);
  return new CountersignError("ERR_STORE_WRITE", `the store failed to ${operation}: ${cause}`, {
    operation,
    cause,
  });
}

/** A failed read as a coded error; coded errors pass as they are. */
export function readFailure(operation: string, error: unknown): Error {
  if (isCountersignError(error)) return error;
  const cause = causeOf(error);
  return new CountersignError("ERR_STORE_READ", `the store failed to ${operation}: ${cause}`, {
    operation,
    cause,
  });
}

/** Stored bytes that contradict what was acknowledged. */
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

/** A writer that was away while the receipt key was rotated. */
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

/** Something beyond the acknowledged log was asked for. */
export function outOfRange(size: number): CountersignError {
  return new CountersignError("ERR_STORE_RANGE", "that part of the log does not exist", { size });
}
