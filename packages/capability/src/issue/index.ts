export { createCapabilityIssuer } from "./issue.js";
export type { CapabilityGrant, CapabilityIssuer, IssuedCapability } from "./issue.js";
export { narrowCapability } from "./narrow.js";
export type { Narrowing } from "./narrow.js";
