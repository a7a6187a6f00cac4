import type {
  ReasoningEndEvent,
  ReasoningMessageContentEvent,
  ReasoningMessageEndEvent,
  ReasoningMessageStartEvent,
  ReasoningStartEvent,
  TextMessageContentEvent,
  TextMessageEndEvent,
  TextMessageStartEvent,
} from "../model/event.js";
import { requireOwner } from "./rule-context.js";
import type { RuleContext } from "./rule-context.js";
import type { MessageRecord } from "./run-state.js";

/** V6 and E8 for TEXT_MESSAGE_START. */
export function checkTextStart(context: RuleContext, event: TextMessageStartEvent): void {
  const { run } = context;
  const id = event.messageId;
  const role = event.role ?? "assistant";
  const record = run.messages.get(id);
  if (record === undefined) {
    run.remember(id, context.eventNumber);
    const created: MessageRecord = { owner: event.subagentRunId, open: true, role };
    if (event.name !== undefined) created.name = event.name;
    run.messages.set(id, created);
    run.opened(context.eventNumber);
    return;
  }
  if (record.open) {
    context.report("text/already-open", id);
    return;
  }
  requireOwner(context, event.subagentRunId, record, id);
  if (record.role !== role || (event.name !== undefined && event.name !== record.name)) {
    context.report("text/reopen-disagrees", id);
  }
  record.open = true;
  run.opened(context.eventNumber);
}

/** V6 for TEXT_MESSAGE_CONTENT and TEXT_MESSAGE_END. */
export function checkTextContinuation(
  context: RuleContext,
  event: TextMessageContentEvent | TextMessageEndEvent,
): void {
  const record = context.run.messages.get(event.messageId);
  if (record === undefined || !record.open) {
    context.report("text/not-open", event.messageId);
    return;
  }
  requireOwner(context, event.subagentRunId, record, event.messageId);
  if (event.type === "TEXT_MESSAGE_END") {
    record.open = false;
    context.run.closed();
  }
}

/** V9 for REASONING_START and REASONING_MESSAGE_START; one owner for span and message. */
export function checkReasoningStart(
  context: RuleContext,
  event: ReasoningStartEvent | ReasoningMessageStartEvent,
): void {
  const { run } = context;
  const id = event.messageId;
  const part = event.type === "REASONING_START" ? "span" : "message";
  let record = run.reasoning.get(id);
  if (record?.[part] === true) {
    context.report("reasoning/already-open", id);
    return;
  }
  if (record === undefined) {
    run.remember(id, context.eventNumber);
    record = { owner: event.subagentRunId, span: false, message: false };
    run.reasoning.set(id, record);
  }
  requireOwner(context, event.subagentRunId, record, id);
  record[part] = true;
  run.opened(context.eventNumber);
}

/** V9 for REASONING_MESSAGE_CONTENT, REASONING_MESSAGE_END and REASONING_END. */
export function checkReasoningContinuation(
  context: RuleContext,
  event: ReasoningMessageContentEvent | ReasoningMessageEndEvent | ReasoningEndEvent,
): void {
  const record = context.run.reasoning.get(event.messageId);
  const part = event.type === "REASONING_END" ? "span" : "message";
  if (record === undefined || !record[part]) {
    context.report("reasoning/not-open", event.messageId);
    return;
  }
  requireOwner(context, event.subagentRunId, record, event.messageId);
  if (event.type !== "REASONING_MESSAGE_CONTENT") {
    record[part] = false;
    context.run.closed();
  }
}
