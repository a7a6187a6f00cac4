import type { JsonObject } from "@countersign/core";
import type {
  AgUiEvent,
  Message,
  RunErrorEvent,
  RunFinishedEvent,
  RunStartedEvent,
} from "@countersign/wire";
import { VENDOR_KEY } from "@countersign/wire/dialects";
import { filterMessages, putBack } from "./messages.js";
import type { MessageJudge } from "./messages.js";
import type { Withholds, WithheldRegister } from "../../event/withheld-register.js";
import { callKey, messageKey, subagentKey } from "../../event/unit.js";

/** The messages and calls that the client has. */
export type DeliveredUnits = {
  roleOf(messageId: string): Message["role"] | undefined;
  callName(toolCallId: string): string | undefined;
};

/**
 * The form in which an allowed event is sent: without the framework's raw event, withheld parts and the gateway's own names. Returns the
 * same object if nothing is removed, and `undefined` if nothing would be left.
 *
 * @param sent the messages of the request
 * @param known the messages and calls that the client has
 */
export function emittedForm(
  event: AgUiEvent,
  register: Withholds,
  sent: readonly Message[],
  judge: () => MessageJudge,
  known: DeliveredUnits,
): AgUiEvent | undefined {
  const bare = withoutRawEvent(event);
  switch (bare.type) {
    case "MESSAGES_SNAPSHOT": {
      const listed = judge();
      const allowed = filterMessages(bare.messages, register, listed);
      const messages = putBack(allowed, sent, register, listed);
      return messages === bare.messages ? bare : { ...bare, messages: [...messages] };
    }
    case "RUN_STARTED":
      return withReducedInput(bare, register, judge);
    case "RUN_FINISHED":
      return withReducedOutcome(bare, register, known);
    case "RUN_ERROR":
      return withoutProblem(bare);
    case "TOOL_CALL_START":
    case "SUBAGENT_STARTED":
      return withSoundParents(bare, register, known);
    default:
      return bare;
  }
}

/** Lets everything through that is not withheld. */
const JUDGED: MessageJudge = {
  restore: () => undefined,
  repeatedAnswer: () => undefined,
  isEarlier: () => false,
  missed: () => {},
  allowsMessage: () => true,
  allowsCall: () => true,
};

/**
 * The form in which a policy that observes sends an event: without what its blocks with `mode: enforce` withhold. Call it after
 * {@link emittedForm}, which judges the messages.
 */
export function observedForm(
  event: AgUiEvent,
  register: WithheldRegister,
  known: DeliveredUnits,
): AgUiEvent | undefined {
  const enforced = register.enforced();
  // Nothing is put back: it is the list of the agent, but for withheld messages.
  return emittedForm(event, enforced, [], () => JUDGED, known);
}

/** The end of an open unit, with only its id. */
export function bareEnd(event: AgUiEvent): AgUiEvent {
  const { rawEvent: _raw, metadata: _metadata, timestamp: _timestamp, ...rest } = event;
  if (rest.type === "SUBAGENT_FINISHED") {
    return { type: rest.type, subagentRunId: rest.subagentRunId };
  }
  if (rest.type === "SUBAGENT_ERROR") {
    return { type: rest.type, subagentRunId: rest.subagentRunId, message: "withheld" };
  }
  return rest as AgUiEvent;
}

/** Frameworks put prompts, keys and provider addresses there, and no client may act on it. */
function withoutRawEvent(event: AgUiEvent): AgUiEvent {
  if (event.rawEvent === undefined) return event;
  const { rawEvent: _dropped, ...rest } = event;
  return rest as AgUiEvent;
}

/** Removes the metadata with which the gateway reports its own refusals: an agent must not imitate them. */
export function withoutProblem(event: RunErrorEvent): RunErrorEvent {
  const own = event.metadata?.[VENDOR_KEY];
  if (typeof own !== "object" || own === null || !Object.hasOwn(own, "problem")) return event;
  const { problem: _forged, ...rest } = own as JsonObject;
  return { ...event, metadata: { ...event.metadata, [VENDOR_KEY]: rest } };
}

/**
 * A link to a withheld message or call would name it, and make the client show an empty one. A link to a message that is not an assistant's
 * (some frameworks name the previous call's result) means nothing to the 1.0 client and misleads others.
 */
function withSoundParents(
  event: Extract<AgUiEvent, { type: "TOOL_CALL_START" | "SUBAGENT_STARTED" }>,
  register: Withholds,
  known: DeliveredUnits,
): AgUiEvent {
  let kept = event;
  const { parentMessageId } = event;
  if (
    parentMessageId !== undefined &&
    (register.find(messageKey(parentMessageId)) !== undefined ||
      (known.roleOf(parentMessageId) ?? "assistant") !== "assistant")
  ) {
    const { parentMessageId: _unsound, ...rest } = kept;
    kept = rest as typeof event;
  }
  if (kept.type === "SUBAGENT_STARTED" && kept.parentToolCallId !== undefined) {
    if (register.find(callKey(kept.parentToolCallId)) !== undefined) {
      const { parentToolCallId: _withheld, ...rest } = kept;
      kept = rest;
    }
  }
  return kept;
}

/** An echoed input is sent with its messages only: the rest may hold data that was never meant for a screen. */
function withReducedInput(
  event: RunStartedEvent,
  register: Withholds,
  judge: () => MessageJudge,
): RunStartedEvent {
  if (event.input === undefined) return event;
  const { threadId, runId, messages } = event.input;
  const kept = filterMessages(messages, register, judge());
  return { ...event, input: { threadId, runId, messages: [...kept] } };
}

function withReducedOutcome(
  event: RunFinishedEvent,
  register: Withholds,
  known: DeliveredUnits,
): RunFinishedEvent | undefined {
  const { outcome } = event;
  const isShown = (id: string | undefined): boolean =>
    id === undefined || register.find(callKey(id)) === undefined;
  if (outcome?.type === "interrupt") {
    const interrupts = outcome.interrupts.filter(
      ({ toolCallId, subagentRunId }) =>
        isShown(toolCallId) &&
        (subagentRunId === undefined || register.find(subagentKey(subagentRunId)) === undefined),
    );
    if (interrupts.length === outcome.interrupts.length) return event;
    return interrupts.length === 0 ? undefined : { ...event, outcome: { ...outcome, interrupts } };
  }
  if (outcome?.type === "success" && outcome.pendingToolCallIds !== undefined) {
    // A person cannot answer a call that the client does not have.
    const pending = outcome.pendingToolCallIds.filter(
      (id) => isShown(id) && known.callName(id) !== undefined,
    );
    if (pending.length === outcome.pendingToolCallIds.length) return event;
    return { ...event, outcome: { type: "success", pendingToolCallIds: pending } };
  }
  return event;
}
