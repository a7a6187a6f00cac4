import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The database through which gateways know of each other did not answer. */
    ERR_FLEET_UNAVAILABLE: Record<string, never>;
    /** Other gateways that may have the run were asked to stop it and said nothing. */
    ERR_FLEET_SILENT: { gateways: number };
  }
}
