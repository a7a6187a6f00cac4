import type { AgUiEvent } from "@countersign/wire";
import { EVENT_TABLE } from "@countersign/wire";

/** The name of a message, call, activity, step or subagent, unique over all kinds. */
export type UnitKey = string;

/** Where in its unit's life an event stands. */
export type UnitPlace = {
  /** Under this name the unit is withheld. */
  readonly key: UnitKey;
  /** Under this name it is open: a text and a reasoning message of one id are open side by side. */
  readonly openKey: string;
  readonly phase: "open" | "continue" | "close" | "whole";
};

/** A text message, reasoning message or activity shares one name space of message ids on the client. */
export function messageKey(messageId: string): UnitKey {
  return `message:${messageId}`;
}

/** The key of a tool call and its arguments. */
export function callKey(toolCallId: string): UnitKey {
  return `call:${toolCallId}`;
}

/** The key of the answers to a tool call, under whatever message id they come. */
export function resultKey(toolCallId: string): UnitKey {
  return `result:${toolCallId}`;
}

/** The key of a subagent and all that is tagged with it. */
export function subagentKey(subagentRunId: string): UnitKey {
  return `subagent:${subagentRunId}`;
}

/**
 * The key of what an agent tried to write into a unit that is not its own.
 *
 * Withholding the attempt must not withhold the unit: or an agent could hide what the person said.
 */
export function foreignKey(key: UnitKey): UnitKey {
  return `foreign:${key}`;
}

/** The unit an event belongs to; `undefined` for events that stand alone. */
export function unitPlaceOf(event: AgUiEvent): UnitPlace | undefined {
  const key = keyOf(event);
  if (key === undefined) return undefined;
  const { unit, phase } = EVENT_TABLE[event.type];
  return {
    key,
    openKey: unit === "text" || unit === "reasoning" ? `${unit}/${key}` : key,
    // Chunks were expanded before: none reaches this place.
    phase: phase === "chunk" || event.type === "REASONING_ENCRYPTED_VALUE" ? "continue" : phase,
  };
}

function keyOf(event: AgUiEvent): UnitKey | undefined {
  switch (event.type) {
    case "STEP_STARTED":
    case "STEP_FINISHED":
      // An empty tag is an owner too; no tag is the parent agent.
      return `step:${event.subagentRunId === undefined ? "" : `${event.subagentRunId}:`}:${event.stepName}`;
    case "REASONING_START":
    case "REASONING_END":
      return `span:${event.messageId}`;
    case "SUBAGENT_STARTED":
    case "SUBAGENT_FINISHED":
    case "SUBAGENT_ERROR":
      return subagentKey(event.subagentRunId);
    case "REASONING_ENCRYPTED_VALUE":
      return event.subtype === "tool-call" ? callKey(event.entityId) : messageKey(event.entityId);
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END":
      return callKey(event.toolCallId);
    case "TOOL_CALL_RESULT":
      return resultKey(event.toolCallId);
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
    case "REASONING_MESSAGE_START":
    case "REASONING_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_END":
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
      return messageKey(event.messageId);
    default:
      return undefined;
  }
}

/** Every name under which an event may be withheld: its own, and those it hangs on. */
export function keysOf(event: AgUiEvent): UnitKey[] {
  const own = keyOf(event);
  const keys = own === undefined ? [] : [own];
  if (event.type === "TOOL_CALL_RESULT") {
    keys.push(callKey(event.toolCallId), messageKey(event.messageId));
  } else if (event.type === "SUBAGENT_STARTED" && event.parentSubagentRunId !== undefined) {
    keys.push(subagentKey(event.parentSubagentRunId));
  }
  if ("subagentRunId" in event && event.subagentRunId !== undefined) {
    keys.push(subagentKey(event.subagentRunId));
  }
  return keys;
}
