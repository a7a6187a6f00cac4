import type { AgUiEvent, Message } from "@countersign/wire";
import { EVENT_TABLE } from "@countersign/wire";

/** The key of a message, call, activity, step or subagent, unique over all kinds. */
export type UnitKey = string;

/** The unit of an event, and the phase of the unit that the event is in. */
export type UnitPlace = {
  /** The key under which the gateway withholds the unit. */
  readonly key: UnitKey;
  /** The key under which the unit is open: a text and a reasoning message with the same id can be open at once. */
  readonly openKey: string;
  readonly phase: "open" | "continue" | "close" | "whole";
};

/** The key of a text message, reasoning message or activity. On the client they share one name space of message ids. */
export function messageKey(messageId: string): UnitKey {
  return `message:${messageId}`;
}

/** The key of a tool call and its arguments. */
export function callKey(toolCallId: string): UnitKey {
  return `call:${toolCallId}`;
}

/** The key of the results of a tool call, whatever their message ids. */
export function resultKey(toolCallId: string): UnitKey {
  return `result:${toolCallId}`;
}

/** The key of a subagent and of every event with its tag. */
export function subagentKey(subagentRunId: string): UnitKey {
  return `subagent:${subagentRunId}`;
}

/**
 * The key of an agent's attempt to write into a unit that is not its own.
 *
 * Withholding the attempt must not withhold the unit: otherwise an agent could hide a message of the person.
 */
export function foreignKey(key: UnitKey): UnitKey {
  return `foreign:${key}`;
}

/** The unit of an event; `undefined` for an event without one. */
export function unitPlaceOf(event: AgUiEvent): UnitPlace | undefined {
  const key = keyOf(event);
  if (key === undefined) return undefined;
  const { unit, phase } = EVENT_TABLE[event.type];
  return {
    key,
    openKey: unit === "text" || unit === "reasoning" ? `${unit}/${key}` : key,
    // The order stage has expanded chunks before this point.
    phase: phase === "chunk" || event.type === "REASONING_ENCRYPTED_VALUE" ? "continue" : phase,
  };
}

function keyOf(event: AgUiEvent): UnitKey | undefined {
  switch (event.type) {
    case "STEP_STARTED":
    case "STEP_FINISHED":
      // An empty tag is an owner too; an event without a tag belongs to the parent agent.
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

/** Every key under which an event may be withheld: its own, and those of the units that it belongs to. */
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

/** The messages that an event lists; `undefined` if it has no list. */
export function listOf(event: AgUiEvent): readonly Message[] | undefined {
  if (event.type === "MESSAGES_SNAPSHOT") return event.messages;
  return event.type === "RUN_STARTED" ? event.input?.messages : undefined;
}
