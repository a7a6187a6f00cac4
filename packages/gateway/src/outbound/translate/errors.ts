import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** An agent sends event envelopes, and its configuration does not name that dialect. */
    ERR_ENVELOPE_NOT_CONFIGURED: { agent: string };
  }
}
