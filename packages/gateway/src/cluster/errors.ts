import "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The database that the gateways of a log share did not answer. */
    ERR_FLEET_UNAVAILABLE: Record<string, never>;
    /** Other gateways that may have the run did not answer the stop order. */
    ERR_FLEET_SILENT: { gateways: number };
  }
}
