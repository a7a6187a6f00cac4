import type { MessagesSnapshotEvent, RunFinishedEvent, RunStartedEvent } from "../model/event.js";
import type { Message } from "../model/message.js";
import type { Interrupt } from "../model/run.js";
import type { RuleContext } from "./rule-context.js";

const VERSION = /^\d+\.\d+$/u;

/** E2, E3, E4, E11, and the owners of the echoed history. */
export function checkRunStarted(context: RuleContext, event: RunStartedEvent): void {
  const { run, input } = context;
  run.threadId = event.threadId;
  run.runId = event.runId;
  if (input !== undefined && event.threadId !== input.threadId) {
    context.report("run/thread-of-input", event.threadId);
  } else if (context.firstThreadId !== undefined && context.firstThreadId !== event.threadId) {
    context.report("run/thread-change", event.threadId);
  }
  context.firstThreadId ??= event.threadId;
  if (context.runIds.has(event.runId)) context.report("run/id-reused", event.runId);
  context.runIds.set(event.runId, true);
  if (event.runId === input?.runId) context.requestedRunSeen = true;
  if (event.protocolVersion !== undefined && !VERSION.test(event.protocolVersion)) {
    context.report("run/protocol-version", event.protocolVersion);
  }
  if (event.input !== undefined) seedMessages(context, event.input.messages, false);
}

/** A snapshot restates the conversation, so its owners replace the recorded ones. */
export function checkMessagesSnapshot(context: RuleContext, event: MessagesSnapshotEvent): void {
  seedMessages(context, event.messages, true);
}

function seedMessages(
  context: RuleContext,
  messages: readonly Message[],
  authoritative: boolean,
): void {
  for (const message of messages) {
    if ((message.subagentRunId as unknown) === null)
      context.report("subagent/null-field", message.id);
    else context.run.seed(message, authoritative, context.eventNumber);
  }
}

/** V13, E1, E6, E9. */
export function checkRunFinished(context: RuleContext, event: RunFinishedEvent): void {
  const { run } = context;
  if (run.openCount > 0) {
    const first = run.openUnits()[0];
    context.report(
      "run/open-at-finish",
      first?.id,
      `RUN_FINISHED while ${run.openCount} unit(s) are open, the first a ${first?.kind}`,
    );
  }
  if (run.runId !== undefined && (event.runId !== run.runId || event.threadId !== run.threadId)) {
    context.report("run/finish-ids", event.runId);
  }
  const { outcome } = event;
  if (outcome?.type === "interrupt") checkInterrupts(context, outcome.interrupts);
  if (outcome?.type === "success" && outcome.pendingToolCallIds !== undefined) {
    checkPendingCalls(context, outcome.pendingToolCallIds);
  }
}

function checkInterrupts(context: RuleContext, interrupts: readonly Interrupt[]): void {
  const seen = new Set<string>();
  for (const interrupt of interrupts) {
    if (seen.has(interrupt.id)) context.report("interrupt/duplicate-id", interrupt.id);
    seen.add(interrupt.id);
    const call = interrupt.toolCallId;
    if (call !== undefined && !context.earlierCalls.has(call))
      context.earlierCalls.set(call, undefined);
  }
}

function checkPendingCalls(context: RuleContext, listed: readonly string[]): void {
  const { startedCalls, answeredCalls } = context.run;
  const pending = startedCalls.filter((id) => !answeredCalls.has(id));
  if (pending.length !== listed.length || pending.some((id, index) => id !== listed[index])) {
    context.report("tool-call/pending-list");
  }
}
