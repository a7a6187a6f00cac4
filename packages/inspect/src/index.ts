export { createFindings, createStreamCheck, isAtLeast } from "./check/index.js";
export type {
  Finding,
  Findings,
  Place,
  SeenEvent,
  StreamCheck,
  StreamCheckOptions,
  StreamSummary,
} from "./check/index.js";
export { createSseWatch } from "./framing/sse-watch.js";
export type { SseWatch, SseWatchOptions } from "./framing/sse-watch.js";
export { isRuleId, LAYER_NAMES, rulePage, rulePages, RULES } from "./rules/index.js";
export type { Layer, Rule, RuleId, Severity, SeverityOverride } from "./rules/index.js";
