import type { Decision, ViolationFacts } from "@countersign/policy";
import { classifyEvent } from "@countersign/policy";
import type { AgUiEvent, Message, ToolCall, ToolMessage } from "@countersign/wire";
import { withheldBy } from "../../event/withheld-register.js";
import { createEventContext } from "../../event/event-context.js";
import type { EventContext } from "../../event/event-context.js";
import { isWithheld } from "../withhold/messages.js";
import type { MessageJudge } from "../withhold/messages.js";
import type { UnitKey } from "../../event/unit.js";
import { callKey, foreignKey, listOf, messageKey, resultKey } from "../../event/unit.js";
import { asRecorded } from "../../thread/message-record.js";
import { denialIn } from "./denial.js";
import { attemptKey } from "./intrusion.js";
import {
  argumentsOf,
  asStreamed,
  attachedCallEvents,
  attachedMetadataEvents,
  callStart,
  partsEvent,
  sameJson,
  textEvent,
  textsOf,
} from "./listed.js";
import { evaluateRules, needsArguments, subjectOf } from "./rule.js";
import type { ListedPart, Moment, RuleState } from "./rule.js";
import { RULES } from "./rules.js";

/** The state of the decide stage that the judge of a message list uses. */
export type SnapshotContext = {
  readonly state: RuleState;
  /** The event that has the list. */
  readonly list: EventContext;
  /** Whether a call waits for its arguments, and so must not appear early. */
  isHeld(toolCallId: string): boolean;
  /** The stream rules that a listed message violates. */
  violations(messageId: string): readonly ViolationFacts[];
  /** Called for each part that is or would be blocked, so that it gets its own receipt. */
  judged(context: EventContext): void;
};

/**
 * Judges the messages of a list as if they had been streamed: otherwise a list would bypass rules about streamed events.
 *
 * Two kinds of parts are left out without a decision of their own: a held call and the result of one. That is safe, because the client
 * gets neither here. The decision about the call follows at its end.
 */
export function createMessageJudge(snapshot: SnapshotContext): MessageJudge {
  const { state, list } = snapshot;
  const { run, view } = state;
  const names = new Map<string, string>();
  const nameOf = (id: string): string | undefined => names.get(id) ?? view.toolName(id);
  let ofClient: Set<string> | undefined;
  /** Calls of the list to tools of the client. A list may have a result before its call. */
  const clientsCalls = (): Set<string> => (ofClient ??= callsTo(state.clientTools, list.event));

  /** The context of one part, as the event that would have streamed it. */
  const partOf = (event: AgUiEvent, call?: ToolCall): EventContext => {
    const context = createEventContext(list.receivedAt);
    context.event = event;
    context.isListedPart = true;
    const id = "toolCallId" in event ? event.toolCallId : undefined;
    const name = id === undefined ? undefined : nameOf(id);
    context.facts = classifyEvent(event, {
      refinements: run.policy.refinements,
      clientTools: state.clientTools,
      client: run.client,
      toolNames: new Map(id === undefined || name === undefined ? [] : [[id, name]]),
      ...(call === undefined
        ? {}
        : { toolArguments: new Map([[call.id, call.function.arguments]]) }),
    });
    return context;
  };

  const evaluate = (
    moment: Moment,
    part: ListedPart,
    context: EventContext = list,
  ): Decision | undefined => evaluateRules(moment, { ...subjectOf(state, context), part });

  /** Records a denial, also one that observe mode does not enforce. Returns whether the part may be delivered. */
  const settle = (context: EventContext, decision: Decision | undefined, key: UnitKey): boolean => {
    const denial = decision && denialIn(decision);
    if (decision === undefined || denial === undefined) return true;
    // A rule in observe mode withholds nothing, so the rest of the list is unaffected.
    const observes = run.policy.mode === "observe";
    if (!decision.allow || observes) {
      state.register.add(key, withheldBy(denial, observes, !decision.allow));
    }
    context.decision = decision;
    snapshot.judged(context);
    return decision.allow;
  };

  const allows = (event: AgUiEvent, key: UnitKey, part: ListedPart = {}): boolean => {
    const context = partOf(event, part.call);
    const foreign = evaluate(RULES.listedMessage, part, context);
    if (foreign !== undefined) return settle(context, foreign, attemptKey(event, key));
    if (part.call === undefined) state.surfaces.read(context);
    else state.surfaces.readCall(context, part.call);
    const isAllowed = settle(context, evaluate(RULES.listed, part, context), key);
    state.surfaces.settle(context, isAllowed);
    // Only parts with a denial are passed on by themselves.
    if (isAllowed && context.surface !== undefined) {
      (list.listedSurfaces ??= []).push(context.surface.facts);
    }
    return isAllowed;
  };

  /** A text that the client already has was read before; the other rules are evaluated again. */
  const allowsWords = (message: Message, text: string, key: UnitKey): boolean =>
    allows(textEvent(message, text), key, {
      content: state.content?.hasText(message) === true ? null : undefined,
    });

  /** Evaluates the rules about messages that no agent may change. The client does not receive the change in any mode. */
  const isUnchanged = (moment: Moment, part: ListedPart & { message: Message }): boolean => {
    const decision = evaluate(moment, part);
    if (decision === undefined) return true;
    const { message } = part;
    settle(partOf(asStreamed(message)), decision, foreignKey(messageKey(message.id)));
    return false;
  };

  const allowsText = (message: Message, key: UnitKey): boolean => {
    const { id } = message;
    if (message.role === "reasoning") {
      return (
        (view.hasMessage(message) ||
          allows({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" }, key)) &&
        allowsWords(message, message.content, key)
      );
    }
    if (message.role === "assistant") {
      return (
        (view.hasMessage(message) || allows({ type: "TEXT_MESSAGE_START", messageId: id }, key)) &&
        (message.content === undefined || allowsWords(message, message.content, key))
      );
    }
    if (message.role !== "user" && message.role !== "system" && message.role !== "developer") {
      // Unreachable: `allowsMessage` judges the other roles itself, and enforce accepts no unknown role.
      return false;
    }
    // The person may send any message; a message in their role from the agent is judged.
    if (view.hasMessage(message)) return true;
    if (view.roleOf(id) !== undefined) return allows(asStreamed(message), key);
    return allowsUnknown(message, key);
  };

  /** A message that neither the client nor the application sent is delivered if the policy allows it and its text passes as the agent's. */
  const allowsUnknown = (message: Message, key: UnitKey): boolean => {
    const start = partOf(asStreamed(message));
    if (!settle(start, evaluate(RULES.listedUnknown, { message }, start), key)) return false;
    const { content } = message;
    if (!textsOf(content).every((text) => allows(textEvent(message, text), key))) return false;
    if (!Array.isArray(content)) return true;
    const parts = partOf(textEvent(message, ""));
    const decision = evaluate(RULES.attached, { events: [partsEvent(message)] }, parts);
    parts.event = asStreamed(message);
    return settle(parts, decision, key);
  };

  /** Metadata of a message could have been streamed as events of its own, so conditions apply to it. */
  const allowsMetadata = (events: readonly AgUiEvent[], key: UnitKey, call?: ToolCall): boolean =>
    events.every((event) => {
      const context = partOf(event, call);
      return settle(context, evaluate(RULES.attached, { events: [event] }, context), key);
    });

  /** The owner of a listed message is judged as if the message had been streamed. */
  const allowsOwner = (message: Message, key: UnitKey): boolean => {
    const violations = snapshot.violations(message.id);
    if (violations.length === 0) return true;
    const context = partOf(asStreamed(message));
    return settle(context, evaluate(RULES.listedOwner, { violations }, context), key);
  };

  const allowsAnswer = (message: ToolMessage): boolean => {
    // A result is not delivered before its call is judged: `stage.ts` decides about the held call at its end.
    if (snapshot.isHeld(message.toolCallId)) return false;
    if (view.hasAnswer(message) || view.repeatedAnswer(message) !== undefined) return true;
    if (!isUnchanged(RULES.listedResult, { message })) return false;
    return allows(asStreamed(message), resultKey(message.toolCallId), {
      answersClientsCall: clientsCalls().has(message.toolCallId),
    });
  };

  const allowsMessage = (message: Message): boolean => {
    const isTool = message.role === "tool";
    const key = isTool ? resultKey(message.toolCallId) : messageKey(message.id);
    const isAllowed = isTool
      ? allowsAnswer(message)
      : message.role === "activity"
        ? allows(asStreamed(message), key)
        : allowsText(message, key);
    return (
      isAllowed && allowsOwner(message, key) && allowsMetadata(attachedMetadataEvents(message), key)
    );
  };

  return {
    ...(run.policy.mode === "observe"
      ? {
          observe: (message: Message) => {
            if (!isWithheld(message, state.register.enforced())) allowsMessage(message);
          },
        }
      : {}),
    allowsMessage,
    restore: (message) => {
      const original = view.original(message.id);
      if (original !== undefined && sameJson(message, original)) return message;
      const record = original === undefined ? view.recordOf(message.id) : undefined;
      if (original === undefined && record === undefined) return undefined;
      // The gateway has no original of a message that only the ledger has: it is delivered unchanged, or withheld.
      const restored = record === undefined ? original : asRecorded(message, record);
      isUnchanged(RULES.listedOriginal, { message, original, restored });
      return restored ?? null;
    },
    repeatedAnswer: (message) => view.repeatedAnswer(message),
    isEarlier: ({ id }) => view.isEarlier(id),
    missed: (message) => {
      // A list that would be blocked in enforce mode withholds nothing.
      if (list.decision?.allow === true && list.decision.observed !== undefined) return;
      isUnchanged(RULES.leftOut, { message });
    },
    allowsCall: (call) => {
      const { id } = call;
      const { name } = call.function;
      // The call is delivered on its own once `stage.ts` has judged it at its end.
      if (snapshot.isHeld(id)) return false;
      const earlierName = nameOf(id);
      names.set(id, earlierName ?? name);
      const event = callStart(call);
      const renamed = evaluate(RULES.listedCall, { call, earlierName });
      if (renamed !== undefined) return settle(partOf(event), renamed, callKey(id));
      if (view.callName(id) !== undefined && !needsArguments(run, name)) {
        // The start was judged when it was streamed; a list may have other arguments for it.
        return allowsMetadata(
          [...argumentsOf(call), ...attachedCallEvents(call)],
          callKey(id),
          call,
        );
      }
      return (
        allows(event, callKey(id), { call }) &&
        allowsMetadata(attachedCallEvents(call), callKey(id), call)
      );
    },
  };
}

function callsTo(tools: { has(name: string): boolean }, event: AgUiEvent | undefined): Set<string> {
  const messages = (event && listOf(event)) ?? [];
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []) : [],
  );
  return new Set(calls.flatMap((call) => (tools.has(call.function.name) ? [call.id] : [])));
}
