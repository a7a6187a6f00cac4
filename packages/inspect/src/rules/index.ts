export { rulePages } from "./pages.js";
export { LAYER_NAMES } from "./rule.js";
export type { Example, Layer, Rule, Severity } from "./rule.js";
export { isRuleId, rulePage, RULES } from "./table.js";
export type { RuleId, SeverityOverride } from "./table.js";
