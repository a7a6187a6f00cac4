import { CountersignError } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A signing thread ended or failed while it held this group. */
    ERR_SIGN_WORKER: { reason: "crashed" | "failed" | "not-started" };
    /** The signer was closed before this group was signed. */
    ERR_SIGN_CLOSED: Record<string, never>;
  }
}

/** The error of every call after `close`. */
export function closedError(): CountersignError {
  return new CountersignError("ERR_SIGN_CLOSED", "the signer is closed", {});
}
