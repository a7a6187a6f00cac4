import type { Decision } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import { foreignKey, messageKey, unitPlaceOf } from "../../event/unit.js";
import type { UnitKey, UnitPlace } from "../../event/unit.js";
import { denialIn } from "./denial.js";
import type { Subject } from "./rule.js";

/** Roles of the person and of their application: no call of an agent is attached to what they said. */
const THE_PERSONS: ReadonlySet<Message["role"]> = new Set(["user", "system", "developer"]);

/** Roles of messages that an agent may not attach an encrypted value to. */
const NOT_THE_AGENTS: ReadonlySet<Message["role"]> = new Set([
  "user",
  "system",
  "developer",
  "activity",
]);

/** The client would append the new arguments to those that the person has read. */
export function callOpenedAgain({ context: { event }, state }: Subject): string | undefined {
  if (!isOfCall(event) || !state.view.isWholeCall(event.toolCallId)) return undefined;
  return "a tool call that is whole is not opened again";
}

/**
 * A call that the client would put into a message of the person, or into a new message under the id of another. In the second case the
 * client has two messages of one id, and its next request does not repeat what was delivered.
 */
export function callIntoForeign({ context: { event }, state }: Subject): string | undefined {
  if (event?.type !== "TOOL_CALL_START") return undefined;
  const { view, register } = state;
  const { toolCallId, parentMessageId = "" } = event;
  // Some clients append the call to its parent whatever role that has.
  const parent = view.roleOf(parentMessageId);
  if (parent !== undefined && THE_PERSONS.has(parent)) {
    return `the call's message is known in the role of ${parent}`;
  }
  // The event leaves without a parent that is withheld.
  const isWithheld = register.find(messageKey(parentMessageId)) !== undefined;
  const carrier = isWithheld ? toolCallId : view.carrierOf(event);
  const role = view.roleOf(carrier);
  if (role === undefined) return undefined;
  if (role !== "assistant") return `the call's message is known in the role of ${role}`;
  const isIntoParent = carrier === parentMessageId && !isWithheld;
  if (isIntoParent || view.callName(toolCallId) !== undefined) return undefined;
  return "the call has the id of another message";
}

/**
 * An event that would write into a message of another kind. The official client looks a message up by its id alone: it appends a delta to
 * any message with that id, the person's own included, and an activity replaces the message.
 */
export function intoOtherRole({ context: { event }, state }: Subject): string | undefined {
  const target = targetOf(event);
  if (target === undefined) return undefined;
  const role = state.view.roleOf(target.id);
  if (role === undefined) return undefined;
  if (target.role === "any" && role === "tool" && isOfClientsTool(state, target.id)) {
    return "the message is a result of the client's own tool";
  }
  if (target.role === "any" ? !NOT_THE_AGENTS.has(role) : role === target.role) return undefined;
  return `the message is known in the role of ${role}`;
}

function isOfClientsTool({ view, clientTools }: Subject["state"], messageId: string): boolean {
  const call = view.answeredCall(messageId);
  if (call === undefined) return false;
  const name = view.toolName(call);
  return view.wasClientsCall(call) || (name !== undefined && clientTools.has(name));
}

export function otherAnswer({ context: { event }, state }: Subject): string | undefined {
  if (event?.type !== "TOOL_CALL_RESULT" || !state.view.isOtherAnswer(event)) return undefined;
  return "an answer of the person stays as they gave it";
}

/** A text that continues in a message of which the gateway does not know the client's text. */
export function reopens({ context: { event }, state, place }: Subject): string | undefined {
  const target = targetOf(event);
  if (event === undefined || target === undefined) return undefined;
  if (target.role !== "assistant" && target.role !== "reasoning") return undefined;
  // `gateway/role` blocks this one.
  if (event.type === "TEXT_MESSAGE_START" && (event.role ?? "assistant") !== "assistant") {
    return undefined;
  }
  if (!state.view.isClosed(target.id)) return undefined;
  // A withheld unit keeps the rule that withheld it. A unit that was opened before a list must be closed.
  if (state.register.findFor(event) !== undefined || state.view.mustClose(place)) return undefined;
  return "the message is of an earlier run that the request does not repeat, or a message list or an echo came since";
}

/**
 * The position of a blocked attempt in its unit. Its key is never that of the unit that the event would write into, which must stay
 * visible; a call that is new keeps its own key.
 */
export function attemptPlace(event: AgUiEvent, decision: Decision): UnitPlace | undefined {
  const place = unitPlaceOf(event);
  if (place === undefined) return undefined;
  const isNewCall = isOfCall(event) && denialIn(decision)?.rule !== "gateway/known-call";
  const key = isNewCall ? place.key : attemptKey(event, place.key);
  return { key, openKey: foreignKey(place.openKey), phase: place.phase };
}

/** The key of an attempt to write into a message, or into the unit with this key. */
export function attemptKey(event: AgUiEvent, key: UnitKey): UnitKey {
  const target = targetOf(event);
  return foreignKey(target === undefined ? key : messageKey(target.id));
}

type CallEvent = Extract<
  AgUiEvent,
  { type: "TOOL_CALL_START" | "TOOL_CALL_ARGS" | "TOOL_CALL_END" }
>;

function isOfCall(event: AgUiEvent | undefined): event is CallEvent {
  return (
    event?.type === "TOOL_CALL_START" ||
    event?.type === "TOOL_CALL_ARGS" ||
    event?.type === "TOOL_CALL_END"
  );
}

function targetOf(
  event: AgUiEvent | undefined,
): { id: string; role: Message["role"] | "any" } | undefined {
  switch (event?.type) {
    case "TEXT_MESSAGE_START":
    case "TEXT_MESSAGE_CONTENT":
    case "TEXT_MESSAGE_END":
      return { id: event.messageId, role: "assistant" };
    case "REASONING_MESSAGE_START":
    case "REASONING_MESSAGE_CONTENT":
    case "REASONING_MESSAGE_END":
      return { id: event.messageId, role: "reasoning" };
    case "ACTIVITY_SNAPSHOT":
    case "ACTIVITY_DELTA":
      return { id: event.messageId, role: "activity" };
    case "TOOL_CALL_RESULT":
      return { id: event.messageId, role: "tool" };
    case "REASONING_ENCRYPTED_VALUE":
      return event.subtype === "message" ? { id: event.entityId, role: "any" } : undefined;
    default:
      return undefined;
  }
}
