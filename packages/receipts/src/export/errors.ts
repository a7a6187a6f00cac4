import type { ErrorFacts } from "@countersign/core";
import { CountersignError } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The target directory of an export already exists. */
    ERR_EXPORT_EXISTS: { directory: string };
    /** The entries of an export do not match its checkpoint. */
    ERR_EXPORT_MISMATCH: { size: number; reason: string };
    /** A private key for an export is not that of the log. */
    ERR_EXPORT_KEY: { purpose: "receipts" | "checkpoint" };
    /** A path of an export is not a regular file but a pipe, a device or a directory. */
    ERR_EXPORT_NOT_FILE: { path: string };
    /** A file of an export is larger than its format allows. */
    ERR_EXPORT_TOO_LARGE: { path: string; limit: number };
  }
}

/** A coded error of writing or reading an export. */
export function exportError<C extends keyof ErrorFacts>(
  code: C,
  message: string,
  facts: ErrorFacts[C],
): CountersignError<C> {
  return new CountersignError(code, message, facts);
}
