import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** Neither an option nor the environment names a private key. */
    ERR_CAPABILITY_NO_KEY: { option: string; variable: string };
  }
}
