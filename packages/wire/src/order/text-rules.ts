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
import { requireOwner } from "./judge.js";
import type { Judge } from "./judge.js";
import type { MessageRecord } from "./run-state.js";

/** V6 and E8 for TEXT_MESSAGE_START. */
export function judgeTextStart(judge: Judge, event: TextMessageStartEvent): void {
  const { run } = judge;
  const id = event.messageId;
  const role = event.role ?? "assistant";
  const record = run.messages.get(id);
  if (record === undefined) {
    run.remember(id, judge.eventNumber);
    const created: MessageRecord = { owner: event.subagentRunId, open: true, role };
    if (event.name !== undefined) created.name = event.name;
    run.messages.set(id, created);
    run.opened(judge.eventNumber);
    return;
  }
  if (record.open) {
    judge.report("text/already-open", id);
    return;
  }
  requireOwner(judge, event.subagentRunId, record, id);
  if (record.role !== role || (event.name !== undefined && event.name !== record.name)) {
    judge.report("text/reopen-disagrees", id);
  }
  record.open = true;
  run.opened(judge.eventNumber);
}

/** V6 for TEXT_MESSAGE_CONTENT and TEXT_MESSAGE_END. */
export function judgeTextContinuation(
  judge: Judge,
  event: TextMessageContentEvent | TextMessageEndEvent,
): void {
  const record = judge.run.messages.get(event.messageId);
  if (record === undefined || !record.open) {
    judge.report("text/not-open", event.messageId);
    return;
  }
  requireOwner(judge, event.subagentRunId, record, event.messageId);
  if (event.type === "TEXT_MESSAGE_END") {
    record.open = false;
    judge.run.closed();
  }
}

/** V9 for REASONING_START and REASONING_MESSAGE_START; one owner for span and message. */
export function judgeReasoningStart(
  judge: Judge,
  event: ReasoningStartEvent | ReasoningMessageStartEvent,
): void {
  const { run } = judge;
  const id = event.messageId;
  const part = event.type === "REASONING_START" ? "span" : "message";
  let record = run.reasoning.get(id);
  if (record?.[part] === true) {
    judge.report("reasoning/already-open", id);
    return;
  }
  if (record === undefined) {
    run.remember(id, judge.eventNumber);
    record = { owner: event.subagentRunId, span: false, message: false };
    run.reasoning.set(id, record);
  }
  requireOwner(judge, event.subagentRunId, record, id);
  record[part] = true;
  run.opened(judge.eventNumber);
}

/** V9 for REASONING_MESSAGE_CONTENT, REASONING_MESSAGE_END and REASONING_END. */
export function judgeReasoningContinuation(
  judge: Judge,
  event: ReasoningMessageContentEvent | ReasoningMessageEndEvent | ReasoningEndEvent,
): void {
  const record = judge.run.reasoning.get(event.messageId);
  const part = event.type === "REASONING_END" ? "span" : "message";
  if (record === undefined || !record[part]) {
    judge.report("reasoning/not-open", event.messageId);
    return;
  }
  requireOwner(judge, event.subagentRunId, record, event.messageId);
  if (event.type !== "REASONING_MESSAGE_CONTENT") {
    record[part] = false;
    judge.run.closed();
  }
}
