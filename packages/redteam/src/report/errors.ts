import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A file that was to be an earlier report is none. */
    ERR_REDTEAM_REPORT: { expected: string };
  }
}
