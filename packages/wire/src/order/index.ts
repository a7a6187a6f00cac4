export { createRunAutomaton } from "./automaton.js";
export type { RunAutomaton, RunAutomatonOptions, RunPhase } from "./automaton.js";
export type { OrderErrorCode } from "./errors.js";
export { ORDER_RULES } from "./rules.js";
export type { OrderRule, OrderRuleId, Severity } from "./rules.js";
export type { OrderLimits } from "./run-state.js";
export type { OpenUnit, Violation } from "./violation.js";
