import type {
  ToolCallArgsEvent,
  ToolCallEndEvent,
  ToolCallResultEvent,
  ToolCallStartEvent,
} from "../model/event.js";
import { requireOwner } from "./rule-context.js";
import type { RuleContext } from "./rule-context.js";
import type { CallRecord } from "./run-state.js";

/** V7 and E8 for TOOL_CALL_START. */
export function checkToolCallStart(context: RuleContext, event: ToolCallStartEvent): void {
  const { run } = context;
  const id = event.toolCallId;
  const known = run.calls.get(id);
  if (known?.open === true) {
    context.report("tool-call/already-open", id);
    return;
  }
  const tag = event.subagentRunId;
  const parent =
    event.parentMessageId === undefined ? undefined : run.messages.get(event.parentMessageId);
  if (parent !== undefined && tag !== undefined && parent.owner !== tag) {
    context.report("tool-call/parent-owner", id);
  } else if (known !== undefined) {
    requireOwner(context, tag, known, id);
    if (tag === undefined && parent !== undefined && parent.owner !== known.owner) {
      context.report("tool-call/parent-owner", id);
    }
  }
  requireSameCall(context, event, known);
  open(context, event, known ?? newRecord(context, event, tag ?? parent?.owner));
}

function newRecord(
  context: RuleContext,
  event: ToolCallStartEvent,
  owner: string | undefined,
): CallRecord {
  context.run.remember(event.toolCallId, context.eventNumber);
  const record: CallRecord = { owner, open: false, started: false };
  context.run.calls.set(event.toolCallId, record);
  return record;
}

/** Clients rename a call that is opened again and keep its arguments: safe{…} becomes danger{…}. */
function requireSameCall(
  context: RuleContext,
  event: ToolCallStartEvent,
  known: CallRecord | undefined,
): void {
  const name = known?.name ?? context.earlierCalls.get(event.toolCallId);
  if (name !== undefined && name !== event.toolCallName) {
    context.report("tool-call/renamed", event.toolCallId);
  }
  if (
    known?.parent !== undefined &&
    event.parentMessageId !== undefined &&
    known.parent !== event.parentMessageId
  ) {
    context.report("tool-call/reparented", event.toolCallId);
  }
}

function open(context: RuleContext, event: ToolCallStartEvent, record: CallRecord): void {
  if (!record.started) {
    record.started = true;
    context.run.startedCalls.push(event.toolCallId);
  }
  record.open = true;
  record.name = event.toolCallName;
  if (event.parentMessageId !== undefined) record.parent ??= event.parentMessageId;
  context.run.opened(context.eventNumber);
}

/** V7 for TOOL_CALL_ARGS and TOOL_CALL_END. */
export function checkToolCallContinuation(
  context: RuleContext,
  event: ToolCallArgsEvent | ToolCallEndEvent,
): void {
  const record = context.run.calls.get(event.toolCallId);
  if (record === undefined || !record.open) {
    context.report("tool-call/not-open", event.toolCallId);
    return;
  }
  requireOwner(context, event.subagentRunId, record, event.toolCallId);
  if (event.type === "TOOL_CALL_END") {
    record.open = false;
    context.run.closed();
  }
}

/** E7; and the result's message is on record under its own owner (V10). */
export function checkToolCallResult(context: RuleContext, event: ToolCallResultEvent): void {
  const { run } = context;
  if (!run.calls.has(event.toolCallId) && !context.earlierCalls.has(event.toolCallId)) {
    context.report("tool-call/unknown-result", event.toolCallId);
  }
  if (!run.answeredCalls.has(event.toolCallId)) {
    run.remember(event.toolCallId, context.eventNumber);
    run.answeredCalls.add(event.toolCallId);
  }
  const record = run.messages.get(event.messageId);
  if (record !== undefined) {
    record.owner = event.subagentRunId;
    return;
  }
  run.remember(event.messageId, context.eventNumber);
  run.messages.set(event.messageId, { owner: event.subagentRunId, open: false, role: "tool" });
}
