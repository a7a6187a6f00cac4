import { canonicalJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { classifyEvent } from "@countersign/policy";
import type {
  Decision,
  Denial,
  EventFacts,
  ForeignRole,
  OnBlock,
  ViolationFacts,
} from "@countersign/policy";
import type { AgUiEvent, Message, ToolCall, ToolMessage } from "@countersign/wire";
import { createEventContext } from "../../event/event-context.js";
import type { ClientTools } from "../classify/client-tools.js";
import type { EventContext } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import type { MessageJudge } from "../withhold/messages.js";
import type { WithheldRegister } from "../../event/withheld-register.js";
import type { UnitKey } from "../../event/unit.js";
import { callKey, foreignKey, messageKey, resultKey } from "../../event/unit.js";
import { asRecorded } from "../../thread/message-record.js";
import type { MessageRecord } from "../../thread/message-record.js";
import { evaluateUncounted } from "./evaluate-uncounted.js";
import { messageIntrusion } from "./intrusion.js";
import type { DeliveredState } from "./delivered-state.js";
import {
  argumentsOf,
  asStreamed,
  callStart,
  partsEvent,
  textEvent,
  textsOf,
  attachedMetadataEvents,
  attachedCallEvents,
} from "./listed.js";
import { observing, ownDenial } from "./structure.js";

/** The state of the decide stage that the judge of a message list uses. */
export type SnapshotContext = {
  readonly run: Run;
  readonly receivedAt: number;
  readonly known: DeliveredState;
  readonly register: WithheldRegister;
  readonly clientTools: ClientTools;
  /** Whether the list would be blocked in enforce mode: then it withholds nothing. */
  readonly isObserved: boolean;
  /** The name of a streamed call. */
  toolName(toolCallId: string): string | undefined;
  /** Whether a call waits for its arguments, and so must not appear early. */
  isHeld(toolCallId: string): boolean;
  ownRule(event: AgUiEvent): Denial | undefined;
  /** Whether the client already has the text of a listed message. */
  hasText(message: Message): boolean;
  /** The stream rules that a listed message violates. */
  violations(messageId: string): readonly ViolationFacts[];
  /** Called for each part that is or would be blocked, so that it gets its own receipt. */
  judged(context: EventContext): void;
};

type Judged = { readonly decision: Decision; readonly capability?: { readonly id: string } };

/** Judges the messages of a list as if they had been streamed: otherwise a list would bypass rules about streamed events. */
export function createMessageJudge(snapshot: SnapshotContext): MessageJudge {
  const { run, known, clientTools } = snapshot;
  const names = new Map<string, string>();
  const nameOf = (id: string): string | undefined =>
    names.get(id) ?? known.callName(id) ?? snapshot.toolName(id);

  const settle = (event: AgUiEvent, facts: EventFacts, judged: Judged, key: UnitKey): boolean => {
    const { decision, capability } = judged;
    const denial = decision.allow ? decision.observed : decision;
    if (denial === undefined) return true;
    // A rule in observe mode withholds nothing, so the rest of the list is unaffected.
    if (!decision.allow || run.policy.mode === "observe") {
      snapshot.register.add(key, { rule: denial.rule, reason: denial.reason });
    }
    const context = createEventContext(snapshot.receivedAt);
    context.event = event;
    context.facts = facts;
    context.decision = decision;
    context.capabilityId = capability?.id;
    context.part = true;
    snapshot.judged(context);
    return decision.allow;
  };

  /** A listed call is judged as the events that would have streamed it: its start and its arguments. */
  const judge = (
    event: AgUiEvent,
    facts: EventFacts,
    call: ToolCall | undefined,
    content: null | undefined,
  ): Judged => {
    const remark =
      call === undefined ? undefined : evaluateUncounted(run, facts, argumentsOf(call));
    if (remark?.allow === false) return { decision: remark };
    const judged = run.judge({
      facts,
      isPart: true,
      content,
      event: event as unknown as JsonObject,
      ...(call === undefined ? {} : { listedArguments: call.function.arguments }),
    });
    const isClean = judged.decision.allow && judged.decision.observed === undefined;
    return isClean && remark !== undefined ? { ...judged, decision: remark } : judged;
  };

  const factsOf = (event: AgUiEvent, call?: ToolCall): EventFacts => {
    const id = "toolCallId" in event ? event.toolCallId : undefined;
    const name = id === undefined ? undefined : nameOf(id);
    return classifyEvent(event, {
      refinements: run.policy.refinements,
      clientTools,
      client: run.client,
      toolNames: new Map(id === undefined || name === undefined ? [] : [[id, name]]),
      ...(call === undefined
        ? {}
        : { toolArguments: new Map([[call.id, call.function.arguments]]) }),
    });
  };

  const allows = (event: AgUiEvent, key: UnitKey, call?: ToolCall, content?: null): boolean => {
    const facts = factsOf(event, call);
    const intrusion = messageIntrusion(event, known, run.policy.onBlock);
    const own = intrusion?.denial ?? snapshot.ownRule(event);
    const judged =
      own === undefined
        ? judge(event, facts, call, content)
        : { decision: observing(run.policy, own) };
    return settle(event, facts, judged, intrusion?.key ?? key);
  };

  /** A text that the client already has was read before; the other rules are evaluated again. */
  const allowsWords = (message: Message, text: string, key: UnitKey): boolean =>
    allows(textEvent(message, text), key, undefined, snapshot.hasText(message) ? null : undefined);

  /** Records a changed message. The client does not receive the change in any mode. */
  const recordRewritten = (message: Message, event: AgUiEvent, onBlock: OnBlock = "drop"): void => {
    const reason = "what was said or answered stays as it was";
    const denial = ownDenial("gateway/rewritten", reason, onBlock);
    const judged = { decision: observing(run.policy, denial) };
    settle(event, factsOf(event), judged, foreignKey(messageKey(message.id)));
  };

  const allowsText = (message: Message, key: UnitKey): boolean => {
    const { id } = message;
    if (message.role === "reasoning") {
      return (
        (known.hasMessage(message) ||
          allows({ type: "REASONING_MESSAGE_START", messageId: id, role: "reasoning" }, key)) &&
        allowsWords(message, message.content, key)
      );
    }
    if (message.role === "assistant") {
      return (
        (known.hasMessage(message) || allows({ type: "TEXT_MESSAGE_START", messageId: id }, key)) &&
        (message.content === undefined || allowsWords(message, message.content, key))
      );
    }
    if (message.role !== "user" && message.role !== "system" && message.role !== "developer") {
      return false;
    }
    // The person may send any message; a message in their role from the agent is judged.
    if (known.hasMessage(message)) return true;
    if (known.roleOf(id) !== undefined) return allows(asStreamed(message), key);
    return allowsUnknown(message, message.role, key);
  };

  /** A message that neither the client nor the application sent is delivered if the policy allows it and its text passes as the agent's. */
  const allowsUnknown = (message: Message, role: ForeignRole, key: UnitKey): boolean => {
    const start = asStreamed(message);
    const decision = run.policy.messages.unknown(role);
    if (decision !== undefined && !settle(start, factsOf(start), { decision }, key)) return false;
    const { content } = message;
    if (!textsOf(content).every((text) => allows(textEvent(message, text), key))) return false;
    if (!Array.isArray(content)) return true;
    const facts = factsOf(textEvent(message, ""));
    const remark = evaluateUncounted(run, facts, [partsEvent(message)]);
    return remark === undefined || settle(start, facts, { decision: remark }, key);
  };

  /** Metadata of a message could have been streamed as events of its own, so conditions apply to it. */
  const allowsMetadata = (events: readonly AgUiEvent[], key: UnitKey, call?: ToolCall): boolean =>
    events.every((event) => {
      const facts = factsOf(event, call);
      // A list has the encrypted value on its message or call; its size is limited as in a stream.
      const own = event.type === "REASONING_ENCRYPTED_VALUE" ? snapshot.ownRule(event) : undefined;
      const decision =
        own === undefined ? evaluateUncounted(run, facts, [event]) : observing(run.policy, own);
      return decision === undefined || settle(event, facts, { decision }, key);
    });

  /** The owner of a listed message is judged as if the message had been streamed. */
  const allowsOwner = (message: Message, key: UnitKey): boolean => {
    const violations = snapshot.violations(message.id);
    if (violations.length === 0) return true;
    const event = asStreamed(message);
    const facts = factsOf(event);
    const request = { facts, violations, event: event as unknown as JsonObject };
    return settle(event, facts, run.judge({ ...request, isPart: true, isUncounted: true }), key);
  };

  const allowsAnswer = (message: ToolMessage): boolean => {
    const { id, toolCallId } = message;
    // A result is not delivered before its call is judged.
    if (snapshot.isHeld(toolCallId)) return false;
    if (known.hasAnswer(message) || known.repeatedAnswer(message) !== undefined) return true;
    const answered = known.answeredCall(id);
    if (answered !== undefined && answered !== toolCallId) {
      recordRewritten(message, asStreamed(message));
      return false;
    }
    return allows(asStreamed(message), resultKey(toolCallId));
  };

  /** A message that only the ledger has: delivered unchanged, or withheld, because the gateway has no original to restore. */
  const recorded = (message: Message, record: MessageRecord): Message | null => {
    const same = asRecorded(message, record);
    if (same === undefined) recordRewritten(message, asStreamed(message), run.policy.onBlock);
    return same ?? null;
  };

  return {
    restore: (message) => {
      const original = known.original(message.id);
      const record = original === undefined ? known.recordOf(message.id) : undefined;
      if (record !== undefined) return recorded(message, record);
      if (original === undefined || sameJson(message, original)) {
        return original === undefined ? undefined : message;
      }
      // The gateway restores a field that a framework loses, without a receipt.
      if (!saysTheSame(message, original)) recordRewritten(message, asStreamed(message));
      return original;
    },
    repeatedAnswer: (message) => known.repeatedAnswer(message),
    missed: (message) => {
      if (snapshot.isObserved) return;
      // Frameworks keep instructions out of lists, and lose no message of the person.
      if (message.role === "user" || message.role === "tool")
        recordRewritten(message, asStreamed(message));
    },
    allowsMessage: (message) => {
      const isTool = message.role === "tool";
      const key = isTool ? resultKey(message.toolCallId) : messageKey(message.id);
      const isAllowed = isTool
        ? allowsAnswer(message)
        : message.role === "activity"
          ? allows(asStreamed(message), key)
          : allowsText(message, key);
      return (
        isAllowed &&
        allowsOwner(message, key) &&
        allowsMetadata(attachedMetadataEvents(message), key)
      );
    },
    allowsCall: (call) => {
      const { id } = call;
      const { name } = call.function;
      // The call is delivered on its own once it is judged.
      if (snapshot.isHeld(id)) return false;
      const before = nameOf(id);
      names.set(id, before ?? name);
      const event = callStart(call);
      if (before !== undefined && before !== name) {
        const denial = ownDenial("gateway/renamed", "a tool call keeps its name");
        return settle(
          event,
          factsOf(event),
          { decision: observing(run.policy, denial) },
          callKey(id),
        );
      }
      if (known.callName(id) !== undefined && !run.policy.needsArguments(name)) {
        // The start was judged when it was streamed; a list may have other arguments for it.
        return allowsMetadata(
          [...argumentsOf(call), ...attachedCallEvents(call)],
          callKey(id),
          call,
        );
      }
      return (
        allows(event, callKey(id), call) &&
        allowsMetadata(attachedCallEvents(call), callKey(id), call)
      );
    },
  };
}

function saysTheSame(message: Message, original: Message): boolean {
  if (message.role !== original.role || !sameJson(message.content, original.content)) return false;
  return (
    message.role !== "tool" ||
    original.role !== "tool" ||
    (message.toolCallId === original.toolCallId && message.error === original.error)
  );
}

function sameJson(one: unknown, other: unknown): boolean {
  return canonicalJson((one ?? null) as JsonValue) === canonicalJson((other ?? null) as JsonValue);
}
