export { createRunAutomaton } from "./automaton.js";
export type { OrderErrorCode, RunAutomaton, RunAutomatonOptions, RunPhase } from "./automaton.js";
export { ORDER_RULES } from "./rules.js";
export type { OrderRule, OrderRuleId, Severity } from "./rules.js";
export type { OpenUnit, OrderLimits, Violation } from "./run-state.js";
