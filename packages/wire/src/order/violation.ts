import type { OrderRuleId, Severity } from "./rules.js";

/** One broken rule, at one event. */
export type Violation = {
  rule: OrderRuleId;
  severity: Severity;
  /** The violation in words, without any text of the agent's. */
  message: string;
  /** Counted from 1; at the end of the stream, the number of the last event. */
  eventNumber: number;
  /** The id or name it is about, cut to 200 characters: the agent's text, not for logs. */
  subject?: string;
};

/** Something that was opened and not closed. */
export type OpenUnit = {
  kind: "step" | "text" | "reasoning-message" | "reasoning-span" | "tool-call" | "subagent";
  /** The id, or the name of a step. */
  id: string;
  /** Its owner; absent is the parent agent. */
  subagentRunId?: string;
};
