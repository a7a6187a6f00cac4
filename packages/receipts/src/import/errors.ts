import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A receipt of another protocol cannot be imported. */
    ERR_FOREIGN_RECEIPT: { reason: string };
  }
}
