import type { AgUiEvent } from "../model/event.js";
import type { OrderRuleId } from "./rules.js";

const OPTIONALS: Readonly<Record<string, readonly string[]>> = {
  SUBAGENT_STARTED: ["description", "parentSubagentRunId", "parentToolCallId", "parentMessageId"],
  SUBAGENT_FINISHED: ["outcome"],
  SUBAGENT_ERROR: ["code"],
};

/**
 * V5, for events that reach the automaton without enforcement (an agent inside the process).
 *
 * Returns the rule that a null or an unknown outcome on the subagent surface breaks.
 */
export function brokenNullRule(event: AgUiEvent): OrderRuleId | undefined {
  const fields = event as unknown as Record<string, unknown>;
  if (fields["subagentRunId"] === null) return "subagent/null-field";
  switch (event.type) {
    case "SUBAGENT_STARTED":
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      if (OPTIONALS[event.type]?.some((field) => fields[field] === null) === true) {
        return "subagent/null-field";
      }
      return brokenOutcomeRule(fields["outcome"]);
    case "RUN_FINISHED":
      return event.outcome?.type === "interrupt" &&
        event.outcome.interrupts.some((interrupt) => (interrupt.subagentRunId as unknown) === null)
        ? "subagent/null-field"
        : undefined;
    default:
      return undefined;
  }
}

function brokenOutcomeRule(outcome: unknown): OrderRuleId | undefined {
  if (outcome === undefined || outcome === null) return undefined;
  const { type, interruptIds } = outcome as { type?: unknown; interruptIds?: unknown };
  if (type !== "success" && type !== "suspended") return "subagent/outcome";
  if (interruptIds === null) return "subagent/null-field";
  const strings =
    !Array.isArray(interruptIds) || interruptIds.every((id) => typeof id === "string");
  return strings ? undefined : "subagent/outcome";
}
