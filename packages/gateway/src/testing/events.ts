import type { SeenEvent } from "./client.js";

/** The ids of a run, as an agent's events repeat them. */
export type RunIds = { threadId: string; runId: string };

/** Reads the ids from the request body that the agent received. */
export function idsOf(body: string): RunIds {
  const frame = body.startsWith("data: ") ? body.slice(6) : body;
  const { threadId, runId } = JSON.parse(frame) as RunIds;
  return { threadId, runId };
}

/** A whole text message. */
export function text(messageId: string, delta: string, fields: object = {}): SeenEvent[] {
  return [
    { type: "TEXT_MESSAGE_START", messageId, role: "assistant", ...fields },
    { type: "TEXT_MESSAGE_CONTENT", messageId, delta },
    { type: "TEXT_MESSAGE_END", messageId },
  ];
}

/** A whole tool call without its result. */
export function call(toolCallId: string, toolCallName: string, args: string): SeenEvent[] {
  return [
    { type: "TOOL_CALL_START", toolCallId, toolCallName },
    { type: "TOOL_CALL_ARGS", toolCallId, delta: args },
    { type: "TOOL_CALL_END", toolCallId },
  ];
}

/** Adds the start and the end of a run to some events. */
export function inRun(ids: RunIds, events: readonly object[]): object[] {
  return [{ type: "RUN_STARTED", ...ids }, ...events, { type: "RUN_FINISHED", ...ids }];
}
