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

/** What the judge of a message list needs from the stage snapshot it. */
export type SnapshotContext = {
  readonly run: Run;
  readonly receivedAt: number;
  readonly known: DeliveredState;
  readonly register: WithheldRegister;
  readonly clientTools: ClientTools;
  /** Whether the list itself would be blocked, were the policy enforced: then it leaves nothing out. */
  readonly isObserved: boolean;
  /** The name of a call that was streamed. */
  toolName(toolCallId: string): string | undefined;
  /** Whether a call waits for its arguments, and so must not appear early. */
  isHeld(toolCallId: string): boolean;
  ownRule(event: AgUiEvent): Denial | undefined;
  /** Whether the client has the text of a listed message already. */
  hasText(message: Message): boolean;
  /** The rules about the stream that a listed message breaks. */
  violations(messageId: string): readonly ViolationFacts[];
  /** Told of each part that was judged to its disadvantage, so that it gets a receipt of its own. */
  judged(context: EventContext): void;
};

type Judged = { readonly decision: Decision; readonly capability?: { readonly id: string } };

/**
 * Judges what a message list brings as if it had been streamed.
 *
 * A message list is the way snapshot a filter that reads only the streamed events.
 */
export function createMessageJudge(snapshot: SnapshotContext): MessageJudge {
  const { run, known, clientTools } = snapshot;
  const names = new Map<string, string>();
  const nameOf = (id: string): string | undefined =>
    names.get(id) ?? known.callName(id) ?? snapshot.toolName(id);

  const settle = (event: AgUiEvent, facts: EventFacts, judged: Judged, key: UnitKey): boolean => {
    const { decision, capability } = judged;
    const denial = decision.allow ? decision.observed : decision;
    if (denial === undefined) return true;
    // A single rule that only observes withholds nothing, so nothing of the rest follows from it.
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

  /** A listed call is asked about as the events that would have brought it: its start, and its arguments. */
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

  /** A text that the client has already was read then: the other rules are asked once more. */
  const allowsWords = (message: Message, text: string, key: UnitKey): boolean =>
    allows(textEvent(message, text), key, undefined, snapshot.hasText(message) ? null : undefined);

  /** Puts a changed saying on record; it is not shown either way. */
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
    // What the person said themselves is theirs; anything else in their name is the agent's.
    if (known.hasMessage(message)) return true;
    if (known.roleOf(id) !== undefined) return allows(asStreamed(message), key);
    return allowsUnknown(message, message.role, key);
  };

  /** A message that nobody sent is shown where the policy says so, if what it says passes as a text of the agent. */
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

  /** What a message has on it beside its words came without them, or would have; conditions may look at it. */
  const allowsWorn = (events: readonly AgUiEvent[], key: UnitKey, call?: ToolCall): boolean =>
    events.every((event) => {
      const facts = factsOf(event, call);
      // In a list an encrypted value is worn by its message or call, and is bounded as if it had come by itself.
      const own = event.type === "REASONING_ENCRYPTED_VALUE" ? snapshot.ownRule(event) : undefined;
      const decision =
        own === undefined ? evaluateUncounted(run, facts, [event]) : observing(run.policy, own);
      return decision === undefined || settle(event, facts, { decision }, key);
    });

  /** Who a listed message is attributed to is judged as if it had been streamed. */
  const allowsOwner = (message: Message, key: UnitKey): boolean => {
    const violations = snapshot.violations(message.id);
    if (violations.length === 0) return true;
    const event = asStreamed(message);
    const facts = factsOf(event);
    const question = { facts, violations, event: event as unknown as JsonObject };
    return settle(event, facts, run.judge({ ...question, isPart: true, isUncounted: true }), key);
  };

  const allowsAnswer = (message: ToolMessage): boolean => {
    const { id, toolCallId } = message;
    // An answer shows nothing before the call it answers is judged.
    if (snapshot.isHeld(toolCallId)) return false;
    if (known.hasAnswer(message)) return true;
    const answered = known.answeredCall(id);
    if (answered !== undefined && answered !== toolCallId) {
      recordRewritten(message, asStreamed(message));
      return false;
    }
    return allows(asStreamed(message), resultKey(toolCallId));
  };

  /** A message that only the ledger knows: as it was, or, since nobody here has what was said, not at all. */
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
      // A field that a framework loses on the way is put back without a word.
      if (!saysTheSame(message, original)) recordRewritten(message, asStreamed(message));
      return original;
    },
    missed: (message) => {
      if (snapshot.isObserved) return;
      // Frameworks keep instructions out of lists, and lose nothing that the person said.
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
        isAllowed && allowsOwner(message, key) && allowsWorn(attachedMetadataEvents(message), key)
      );
    },
    allowsCall: (call) => {
      const { id } = call;
      const { name } = call.function;
      // It comes by itself as soon as it is judged.
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
        // Its start was judged when it came; a list may have put other arguments under it.
        return allowsWorn([...argumentsOf(call), ...attachedCallEvents(call)], callKey(id), call);
      }
      return (
        allows(event, callKey(id), call) && allowsWorn(attachedCallEvents(call), callKey(id), call)
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
