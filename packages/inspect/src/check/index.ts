export { createFindings, isAtLeast } from "./findings.js";
export type { Finding, Findings, Place } from "./findings.js";
export { createStreamCheck } from "./stream-check.js";
export type { SeenEvent, StreamCheck, StreamCheckOptions } from "./stream-check.js";
export type { StreamSummary } from "./summary.js";
