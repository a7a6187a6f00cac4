import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A response of a timestamp authority cannot be read, or does not hold for the checkpoint. */
    ERR_TIMESTAMP: { reason: string };
    /** A file of trusted certificates cannot be used. */
    ERR_TIMESTAMP_ANCHORS: { reason: string };
  }
}
