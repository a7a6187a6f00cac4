import type { AgUiEvent, RunFinishedEvent, RunStartedEvent } from "@countersign/wire";
import { filterMessages } from "./messages.js";
import type { MessageJudge } from "./messages.js";
import type { WithheldRegister } from "./register.js";
import { callKey } from "./unit.js";

/**
 * The form in which an allowed event leaves: without the framework's raw event, and without anything
 * that is withheld. The very same object when there is nothing to take out, `undefined` when nothing
 * would be left of what it asks.
 */
export function emittedForm(
  event: AgUiEvent,
  register: WithheldRegister,
  judge: MessageJudge,
): AgUiEvent | undefined {
  const bare = withoutRawEvent(event);
  switch (bare.type) {
    case "MESSAGES_SNAPSHOT": {
      const messages = filterMessages(bare.messages, register, judge);
      return messages === bare.messages ? bare : { ...bare, messages: [...messages] };
    }
    case "RUN_STARTED":
      return withReducedInput(bare, register, judge);
    case "RUN_FINISHED":
      return withReducedOutcome(bare, register);
    default:
      return bare;
  }
}

/** Frameworks put prompts, keys and provider addresses there, and no client may act on it. */
function withoutRawEvent(event: AgUiEvent): AgUiEvent {
  if (event.rawEvent === undefined) return event;
  const { rawEvent: _dropped, ...rest } = event;
  return rest as AgUiEvent;
}

/** An echoed input shows the person only its messages: the rest may hold what was never meant for a screen. */
function withReducedInput(
  event: RunStartedEvent,
  register: WithheldRegister,
  judge: MessageJudge,
): RunStartedEvent {
  if (event.input === undefined) return event;
  const { threadId, runId, messages } = event.input;
  const kept = filterMessages(messages, register, judge);
  return { ...event, input: { threadId, runId, messages: [...kept] } };
}

function withReducedOutcome(
  event: RunFinishedEvent,
  register: WithheldRegister,
): RunFinishedEvent | undefined {
  const { outcome } = event;
  const isShown = (id: string | undefined): boolean =>
    id === undefined || register.find(callKey(id)) === undefined;
  if (outcome?.type === "interrupt") {
    const interrupts = outcome.interrupts.filter((interrupt) => isShown(interrupt.toolCallId));
    if (interrupts.length === outcome.interrupts.length) return event;
    return interrupts.length === 0 ? undefined : { ...event, outcome: { ...outcome, interrupts } };
  }
  if (outcome?.type === "success" && outcome.pendingToolCallIds !== undefined) {
    const pending = outcome.pendingToolCallIds.filter(isShown);
    if (pending.length === outcome.pendingToolCallIds.length) return event;
    return { ...event, outcome: { type: "success", pendingToolCallIds: pending } };
  }
  return event;
}
