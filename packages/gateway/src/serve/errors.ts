import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The certificate or the key of the data plane is invalid. */
    ERR_SERVE_TLS: { file: string; cause: string };
  }
}
