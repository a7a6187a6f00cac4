import { classifyEvent } from "@countersign/policy";
import type { ClassifyContext } from "@countersign/policy";
import type { AgUiEvent, Message } from "@countersign/wire";
import type { Passage } from "../pipeline/passage.js";
import type { Run } from "../pipeline/run.js";
import type { MessageJudge } from "../withhold/messages.js";
import { callKey, messageKey } from "../withhold/unit.js";
import type { Judgement, Question } from "./judge.js";

/** What the judge of a snapshot needs from the stage around it. */
export type SnapshotSurroundings = {
  readonly run: Run;
  readonly judge: (question: Question) => Judgement;
  /** Message ids the person already has: sent by them, or delivered on this stream. */
  readonly known: ReadonlySet<string>;
  /** Told of each part that was taken out, so that it gets a receipt of its own. */
  readonly blocked: (passage: Passage) => void;
};

/**
 * Judges what a snapshot brings for the first time as if it had been streamed.
 *
 * A message list is the way around a filter that reads only the streamed events.
 */
export function createMessageJudge(surroundings: SnapshotSurroundings): MessageJudge {
  const { run, judge, known, blocked } = surroundings;
  const clientTools = new Set((run.input.tools ?? []).map((tool) => tool.name));

  const allows = (event: AgUiEvent, key: string, context: ClassifyContext): boolean => {
    const facts = classifyEvent(event, {
      refinements: run.policy.refinements,
      clientTools,
      ...context,
    });
    const { decision, capability } = judge({ facts });
    if (decision.allow) return true;
    run.withheld.add(key, { rule: decision.rule, reason: decision.reason });
    blocked({
      receivedAt: run.clock.now(),
      event,
      facts,
      decision,
      ...(capability === undefined ? {} : { capabilityId: capability.id }),
    });
    return false;
  };

  return {
    allowsMessage: (message) =>
      known.has(message.id) || allows(openingOf(message), messageKey(message.id), {}),
    allowsCall: (call) => {
      if (known.has(callKey(call.id))) return true;
      const toolArguments = new Map([[call.id, call.function.arguments]]);
      return allows(
        { type: "TOOL_CALL_START", toolCallId: call.id, toolCallName: call.function.name },
        callKey(call.id),
        { toolArguments },
      );
    },
  };
}

/** The event that would have opened this message on a stream. */
function openingOf(message: Message): AgUiEvent {
  const { id } = message;
  switch (message.role) {
    case "tool":
      return {
        type: "TOOL_CALL_RESULT",
        messageId: id,
        toolCallId: message.toolCallId,
        content: "",
      };
    case "activity":
      return {
        type: "ACTIVITY_SNAPSHOT",
        messageId: id,
        activityType: message.activityType,
        content: {},
      };
    case "reasoning":
      return { type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" };
    default:
      return { type: "TEXT_MESSAGE_START", messageId: id, role: message.role };
  }
}
