export { decodeRunInput, runInputSchema } from "./decode.js";
export type { LoweringCode, LoweringIssue } from "./issues.js";
export { lowerRunBody, lowerRunInput } from "./lower.js";
export type { Lowered, SubmitInput } from "./lower.js";
export type { LoweredMessage } from "./messages.js";
export { DEFAULT_LOWERING_LIMITS } from "./policy.js";
export type {
  LoweringLimits,
  LoweringPolicy,
  ResumeBinding,
  ResumeDecision,
  SubmitDefaults,
} from "./policy.js";
