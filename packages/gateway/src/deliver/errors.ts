import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The policy does not let a browser's request up. */
    ERR_INBOUND_BLOCKED: { rule: string; receipt: string };
  }
}
