/** The version of this package in `/v1/status`, the metrics and the traces. */
export const VERSION = "0.1.0";
