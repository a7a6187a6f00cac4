import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The path is a pipe, a device or a directory instead of a file. */
    ERR_FILE_KIND: { file: string };
    /** The file is larger than the limit of its kind. */
    ERR_FILE_TOO_LARGE: { file: string; limit: number };
  }
}
