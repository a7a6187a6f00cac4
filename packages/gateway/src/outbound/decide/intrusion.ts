import type { Denial, OnBlock } from "@countersign/policy";
import type { AgUiEvent, EventOf, Message } from "@countersign/wire";
import type { WithheldRegister } from "../../event/withheld-register.js";
import { callKey, foreignKey, messageKey, unitPlaceOf } from "../../event/unit.js";
import type { UnitKey, UnitPlace } from "../../event/unit.js";
import type { DeliveredState } from "./delivered-state.js";
import { ownDenial } from "./structure.js";

/**
 * An event that writes into something that is not its own, and the name under which that event is
 * withheld: never the name of what it wanted to write into, which must stay visible.
 */
export type Intrusion = { readonly denial: Denial; readonly key: UnitKey };

/** Roles of the person and of their application: no call of an agent is attached to what they said. */
const THE_PERSONS: ReadonlySet<Message["role"]> = new Set(["user", "system", "developer"]);

/** Roles of messages that an agent may not attach an encrypted value to. */
const NOT_THE_AGENTS: ReadonlySet<Message["role"]> = new Set([
  "user",
  "system",
  "developer",
  "activity",
]);

/**
 * The block for an event that would write into a message of another kind.
 *
 * The official client looks a message up by its id alone: a delta is appended to whatever has that id,
 * the person's own messages included, and an activity takes its place.
 */
export function messageIntrusion(
  event: AgUiEvent,
  known: DeliveredState,
  onBlock: OnBlock,
): Intrusion | undefined {
  const target = targetOf(event);
  if (target === undefined) return undefined;
  const role = known.roleOf(target.id);
  if (role === undefined) return undefined;
  if (target.role === "any" ? NOT_THE_AGENTS.has(role) : role !== target.role) {
    const reason = `the message is known in the role of ${role}`;
    return intrusionInto(target.id, ownDenial("gateway/message-role", reason, onBlock));
  }
  if (event.type === "TOOL_CALL_RESULT" && known.isOtherAnswer(event)) {
    const reason = "an answer of the person stays as they gave it";
    return intrusionInto(target.id, ownDenial("gateway/rewritten", reason, onBlock));
  }
  return undefined;
}

function intrusionInto(messageId: string, denial: Denial): Intrusion {
  return { key: foreignKey(messageKey(messageId)), denial };
}

/**
 * The block for an event that would write into a message of another role, into a call of the history, or into a text
 * whose end the gateway does not know.
 */
export function intrusionOf(
  event: AgUiEvent,
  known: DeliveredState,
  onBlock: OnBlock,
  register: WithheldRegister,
): Intrusion | undefined {
  switch (event.type) {
    case "TOOL_CALL_START":
    case "TOOL_CALL_ARGS":
    case "TOOL_CALL_END": {
      // The client would append the new arguments to those the person has read.
      if (known.isWholeCall(event.toolCallId)) {
        const reason = "a tool call that is whole is not opened again";
        return {
          key: foreignKey(callKey(event.toolCallId)),
          denial: ownDenial("gateway/known-call", reason, onBlock),
        };
      }
      return event.type === "TOOL_CALL_START"
        ? callIntrusion(event, known, onBlock, register)
        : undefined;
    }
    default:
      return messageIntrusion(event, known, onBlock) ?? reopening(event, known, onBlock);
  }
}

/**
 * The block for a call that the client would put into a message of the person, or into a new message under the id of
 * another. In the second case the client has two messages of one id, and its next request does not repeat what was
 * delivered.
 */
export function callIntrusion(
  event: EventOf<"TOOL_CALL_START">,
  known: DeliveredState,
  onBlock: OnBlock,
  register: WithheldRegister,
): Intrusion | undefined {
  const { toolCallId, parentMessageId = "" } = event;
  const block = (reason: string): Intrusion => ({
    key: callKey(toolCallId),
    denial: ownDenial("gateway/message-role", reason, onBlock),
  });
  // Some clients append the call to its parent whatever role that has.
  const parent = known.roleOf(parentMessageId);
  if (parent !== undefined && THE_PERSONS.has(parent)) {
    return block(`the call's message is known in the role of ${parent}`);
  }
  // The event leaves without a parent that is withheld.
  const isWithheld = register.find(messageKey(parentMessageId)) !== undefined;
  const carrier = isWithheld ? toolCallId : known.carrierOf(event);
  const role = known.roleOf(carrier);
  if (role === undefined) return undefined;
  if (role !== "assistant") return block(`the call's message is known in the role of ${role}`);
  const isIntoParent = carrier === parentMessageId && !isWithheld;
  if (isIntoParent || known.callName(toolCallId) !== undefined) return undefined;
  return block("the call has the id of another message");
}

/** The block for a text that goes on in a message of which the gateway does not know what the client has. */
function reopening(
  event: AgUiEvent,
  known: DeliveredState,
  onBlock: OnBlock,
): Intrusion | undefined {
  const target = targetOf(event);
  if (target?.role !== "assistant" && target?.role !== "reasoning") return undefined;
  // `gateway/role` blocks this one.
  if (event.type === "TEXT_MESSAGE_START" && (event.role ?? "assistant") !== "assistant") {
    return undefined;
  }
  if (!known.isClosed(target.id)) return undefined;
  const reason =
    "the message is of an earlier run that the request does not repeat, or a message list or an echo came since";
  return intrusionInto(target.id, ownDenial("gateway/reopened", reason, onBlock));
}

/** The position of an intruding event in its unit, under the key that withholds it. */
export function intrudingPlace(event: AgUiEvent, { key }: Intrusion): UnitPlace | undefined {
  const place = unitPlaceOf(event);
  return place === undefined
    ? undefined
    : { key, openKey: foreignKey(place.openKey), phase: place.phase };
}

function targetOf(event: AgUiEvent): { id: string; role: Message["role"] | "any" } | undefined {
  switch (event.type) {
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
