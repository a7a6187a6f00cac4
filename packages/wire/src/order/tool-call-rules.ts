import type {
  ToolCallArgsEvent,
  ToolCallEndEvent,
  ToolCallResultEvent,
  ToolCallStartEvent,
} from "../model/event.js";
import { requireOwner } from "./judge.js";
import type { Judge } from "./judge.js";
import type { CallRecord } from "./run-state.js";

/** V7 and E8 for TOOL_CALL_START. */
export function judgeToolCallStart(judge: Judge, event: ToolCallStartEvent): void {
  const { run } = judge;
  const id = event.toolCallId;
  const known = run.calls.get(id);
  if (known?.open === true) {
    judge.report("tool-call/already-open", id);
    return;
  }
  const tag = event.subagentRunId;
  const parent =
    event.parentMessageId === undefined ? undefined : run.messages.get(event.parentMessageId);
  if (parent !== undefined && tag !== undefined && parent.owner !== tag) {
    judge.report("tool-call/parent-owner", id);
  } else if (known !== undefined) {
    requireOwner(judge, tag, known, id);
    if (tag === undefined && parent !== undefined && parent.owner !== known.owner) {
      judge.report("tool-call/parent-owner", id);
    }
  }
  requireSameCall(judge, event, known);
  open(judge, event, known ?? newRecord(judge, event, tag ?? parent?.owner));
}

function newRecord(judge: Judge, event: ToolCallStartEvent, owner: string | undefined): CallRecord {
  judge.run.remember(event.toolCallId, judge.eventNumber);
  const record: CallRecord = { owner, open: false, started: false };
  judge.run.calls.set(event.toolCallId, record);
  return record;
}

/** Clients rename a call that is opened again and keep its arguments: safe{…} becomes danger{…}. */
function requireSameCall(
  judge: Judge,
  event: ToolCallStartEvent,
  known: CallRecord | undefined,
): void {
  const name = known?.name ?? judge.earlierCalls.get(event.toolCallId);
  if (name !== undefined && name !== event.toolCallName) {
    judge.report("tool-call/renamed", event.toolCallId);
  }
  if (
    known?.parent !== undefined &&
    event.parentMessageId !== undefined &&
    known.parent !== event.parentMessageId
  ) {
    judge.report("tool-call/reparented", event.toolCallId);
  }
}

function open(judge: Judge, event: ToolCallStartEvent, record: CallRecord): void {
  if (!record.started) {
    record.started = true;
    judge.run.startedCalls.push(event.toolCallId);
  }
  record.open = true;
  record.name = event.toolCallName;
  if (event.parentMessageId !== undefined) record.parent ??= event.parentMessageId;
  judge.run.opened(judge.eventNumber);
}

/** V7 for TOOL_CALL_ARGS and TOOL_CALL_END. */
export function judgeToolCallContinuation(
  judge: Judge,
  event: ToolCallArgsEvent | ToolCallEndEvent,
): void {
  const record = judge.run.calls.get(event.toolCallId);
  if (record === undefined || !record.open) {
    judge.report("tool-call/not-open", event.toolCallId);
    return;
  }
  requireOwner(judge, event.subagentRunId, record, event.toolCallId);
  if (event.type === "TOOL_CALL_END") {
    record.open = false;
    judge.run.closed();
  }
}

/** E7; and the result's message is on record under its own owner (V10). */
export function judgeToolCallResult(judge: Judge, event: ToolCallResultEvent): void {
  const { run } = judge;
  if (!run.calls.has(event.toolCallId) && !judge.earlierCalls.has(event.toolCallId)) {
    judge.report("tool-call/unknown-result", event.toolCallId);
  }
  if (!run.answeredCalls.has(event.toolCallId)) {
    run.remember(event.toolCallId, judge.eventNumber);
    run.answeredCalls.add(event.toolCallId);
  }
  const record = run.messages.get(event.messageId);
  if (record !== undefined) {
    record.owner = event.subagentRunId;
    return;
  }
  run.remember(event.messageId, judge.eventNumber);
  run.messages.set(event.messageId, { owner: event.subagentRunId, open: false, role: "tool" });
}
