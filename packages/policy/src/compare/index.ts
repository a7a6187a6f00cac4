export type { BlockDiff, PolicyChange, PolicyDiff } from "./change.js";
export { comparePolicies } from "./compare-policies.js";
export type { Effect } from "./effect.js";
