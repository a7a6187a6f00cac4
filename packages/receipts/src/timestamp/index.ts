export { requestTimestamp } from "./request-timestamp.js";
export type { TimestampAuthority, Timestamped } from "./request-timestamp.js";
export { Timestamping } from "./timestamping.js";
export type { TimestampedCheckpoint, TimestampingOptions } from "./timestamping.js";
export { parseTrustAnchors, verifyTimestamp } from "./verify-timestamp.js";
export type { VerifiedTimestamp } from "./verify-timestamp.js";
