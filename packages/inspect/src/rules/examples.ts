import type { JsonObject, JsonValue } from "@countersign/core";

/** Opens the run that most examples need. */
export const RUN: JsonObject = { type: "RUN_STARTED", threadId: "t1", runId: "r1" };
/** Finishes it. */
export const FINISH: JsonObject = { type: "RUN_FINISHED", threadId: "t1", runId: "r1" };
/** Opens a text message. */
export const TEXT: JsonObject = { type: "TEXT_MESSAGE_START", messageId: "m1", role: "assistant" };
/** Adds to it. */
export const DELTA: JsonObject = { type: "TEXT_MESSAGE_CONTENT", messageId: "m1", delta: "Hi" };
/** Ends it. */
export const TEXT_END: JsonObject = { type: "TEXT_MESSAGE_END", messageId: "m1" };
/** Opens a tool call. */
export const CALL: JsonObject = { type: "TOOL_CALL_START", toolCallId: "c1", toolCallName: "find" };
/** Its arguments. */
export const ARGS: JsonObject = { type: "TOOL_CALL_ARGS", toolCallId: "c1", delta: "{}" };
/** Ends it. */
export const CALL_END: JsonObject = { type: "TOOL_CALL_END", toolCallId: "c1" };
/** Opens a subagent. */
export const SUBAGENT: JsonObject = {
  type: "SUBAGENT_STARTED",
  subagentRunId: "s1",
  name: "scout",
};
/** Ends it. */
export const SUBAGENT_END: JsonObject = { type: "SUBAGENT_FINISHED", subagentRunId: "s1" };

/** Events inside one complete run. */
export function inRun(...events: readonly JsonValue[]): { events: readonly JsonValue[] } {
  return { events: [RUN, ...events, FINISH] };
}

/** Events exactly as given. */
export function stream(...events: readonly JsonValue[]): { events: readonly JsonValue[] } {
  return { events };
}

/** The same run as an SSE body, with something done to its text. */
export function sse(
  change: (body: string) => string,
  ...events: readonly JsonValue[]
): { sse: string } {
  const all = [RUN, ...events, FINISH];
  return { sse: change(all.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("")) };
}
