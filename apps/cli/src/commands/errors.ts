import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** There is no configuration file where one was looked for. */
    ERR_CLI_NO_CONFIG: { file: string };
  }
}
