import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A path that should lead to a file leads to a pipe, a device or a directory. */
    ERR_FILE_KIND: { file: string };
    /** A file is larger than any of its kind has a reason to be. */
    ERR_FILE_TOO_LARGE: { file: string; limit: number };
  }
}
