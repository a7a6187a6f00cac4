/** The version of this package, as `/v1/status`, the metrics and the traces tell it. */
export const VERSION = "0.1.0";
