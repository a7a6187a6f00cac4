import type { AgUiEvent } from "../../model/event.js";
import type { RunAgentInput } from "../../model/input.js";

/** An event that may break the model as well as the order. */
export type Loose = { type: AgUiEvent["type"] } & Record<string, unknown>;

/** The begin of run `r` in thread `t`. */
export const started: Loose = { type: "RUN_STARTED", threadId: "t", runId: "r" };
/** The good end of that run. */
export const finished: Loose = { type: "RUN_FINISHED", threadId: "t", runId: "r" };
/** An error. */
export const failed: Loose = { type: "RUN_ERROR", message: "m" };
/** An event of the application. */
export const custom: Loose = { type: "CUSTOM", name: "n", value: 1 };
/** The input that asks for that run. */
export const input: RunAgentInput = { threadId: "t", runId: "r", messages: [] };

/** One event of a text message. */
export const text = (
  verb: "START" | "CONTENT" | "END",
  messageId = "m",
  more: object = {},
): Loose => ({
  type: `TEXT_MESSAGE_${verb}`,
  messageId,
  ...(verb === "CONTENT" && { delta: "" }),
  ...more,
});
/** One event of a tool call. */
export const call = (
  verb: "START" | "ARGS" | "END",
  toolCallId = "c",
  more: object = {},
): Loose => ({
  type: `TOOL_CALL_${verb}`,
  toolCallId,
  ...(verb === "START" && { toolCallName: "f" }),
  ...(verb === "ARGS" && { delta: "" }),
  ...more,
});
/** The result of a tool call. */
export const result = (toolCallId = "c", more: object = {}): Loose => ({
  type: "TOOL_CALL_RESULT",
  messageId: "result",
  toolCallId,
  content: "",
  ...more,
});
/** One event of a subagent. */
export const subagent = (
  verb: "STARTED" | "FINISHED" | "ERROR",
  subagentRunId: unknown = "s",
  more: object = {},
): Loose => ({
  type: `SUBAGENT_${verb}`,
  subagentRunId,
  ...(verb === "STARTED" && { name: "n" }),
  ...(verb === "ERROR" && { message: "m" }),
  ...more,
});
/** One event of a span or message of reasoning. */
export const reasoning = (
  verb: "START" | "END" | "MESSAGE_START" | "MESSAGE_CONTENT" | "MESSAGE_END",
  more: object = {},
): Loose => ({
  type: `REASONING_${verb}`,
  messageId: "m",
  ...(verb === "MESSAGE_CONTENT" && { delta: "" }),
  ...more,
});
/** One event of a step. */
export const step = (verb: "STARTED" | "FINISHED", more: object = {}): Loose => ({
  type: `STEP_${verb}`,
  stepName: "p",
  ...more,
});
/** The tag of subagent `s1`. */
export const s1 = { subagentRunId: "s1" };
/** A snapshot of the conversation. */
export const snapshot = (...messages: object[]): Loose => ({ type: "MESSAGES_SNAPSHOT", messages });
/** An end that waits for answers. */
export const interrupt = (...interrupts: object[]): Loose => ({
  ...finished,
  outcome: { type: "interrupt", interrupts },
});
