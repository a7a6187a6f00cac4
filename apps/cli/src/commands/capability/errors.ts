import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** Neither an option nor the environment names a private key. */
    ERR_CAPABILITY_NO_KEY: { option: string; variable: string };
    /** A token that names no principal was not asked for in words. */
    ERR_CAPABILITY_NO_PRINCIPAL: { option: string };
  }
}
