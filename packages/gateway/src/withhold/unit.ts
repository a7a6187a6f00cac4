import type { AgUiEvent } from "@countersign/wire";
import { EVENT_TABLE } from "@countersign/wire";

/** The name of a message, call, activity, step or subagent, unique over all kinds. */
export type UnitKey = string;

/** Where in its unit's life an event stands. */
export type UnitPlace = {
  readonly key: UnitKey;
  readonly phase: "open" | "continue" | "close" | "whole";
};

/** A text message, reasoning message or activity shares one name space of message ids on the client. */
export function messageKey(messageId: string): UnitKey {
  return `message:${messageId}`;
}

/** The key of a tool call, its arguments and its results. */
export function callKey(toolCallId: string): UnitKey {
  return `call:${toolCallId}`;
}

/** The unit an event belongs to; `undefined` for events that stand alone. */
export function unitPlaceOf(event: AgUiEvent): UnitPlace | undefined {
  const entry = EVENT_TABLE[event.type];
  // Chunks were expanded before: none reaches this place.
  const phase = entry.phase === "chunk" ? "continue" : entry.phase;
  switch (event.type) {
    case "STEP_STARTED":
    case "STEP_FINISHED":
      return { key: `step:${event.subagentRunId ?? ""}:${event.stepName}`, phase };
    case "REASONING_START":
    case "REASONING_END":
      return { key: `span:${event.messageId}`, phase };
    case "SUBAGENT_STARTED":
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return { key: `subagent:${event.subagentRunId}`, phase };
    case "REASONING_ENCRYPTED_VALUE":
      return {
        key: event.subtype === "tool-call" ? callKey(event.entityId) : messageKey(event.entityId),
        phase: "continue",
      };
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
    case "TOOL_CALL_RESULT":
      return { key: callKey(event.toolCallId), phase };
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_START":
    case "REASONING_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_END":
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
      return { key: messageKey(event.messageId), phase };
    default:
      return undefined;
  }
}
