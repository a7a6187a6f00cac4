import type { ErrorFacts } from "@countersign/core";
import { CountersignError } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The directory an export should go to is there already. */
    ERR_EXPORT_EXISTS: { directory: string };
    /** The entries given to an export are not those its checkpoint was signed for. */
    ERR_EXPORT_MISMATCH: { size: number; reason: string };
    /** Where a file of an export should be there is something else: a pipe, a device, a directory. */
    ERR_EXPORT_NOT_FILE: { path: string };
    /** A file of an export is larger than it can be. */
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
