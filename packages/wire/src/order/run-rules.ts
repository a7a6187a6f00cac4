import type { MessagesSnapshotEvent, RunFinishedEvent, RunStartedEvent } from "../model/event.js";
import type { Message } from "../model/message.js";
import type { Interrupt } from "../model/run.js";
import type { Judge } from "./judge.js";

const VERSION = /^\d+\.\d+$/u;

/** E2, E3, E4, E11, and the owners of the echoed history. */
export function judgeRunStarted(judge: Judge, event: RunStartedEvent): void {
  const { run, input } = judge;
  run.threadId = event.threadId;
  run.runId = event.runId;
  if (input !== undefined && event.threadId !== input.threadId) {
    judge.report("run/thread-of-input", event.threadId);
  } else if (judge.firstThreadId !== undefined && judge.firstThreadId !== event.threadId) {
    judge.report("run/thread-change", event.threadId);
  }
  judge.firstThreadId ??= event.threadId;
  if (judge.runIds.has(event.runId)) judge.report("run/id-reused", event.runId);
  judge.runIds.set(event.runId, true);
  if (event.runId === input?.runId) judge.requestedRunSeen = true;
  if (event.protocolVersion !== undefined && !VERSION.test(event.protocolVersion)) {
    judge.report("run/protocol-version", event.protocolVersion);
  }
  if (event.input !== undefined) seedMessages(judge, event.input.messages, false);
}

/** A snapshot restates the conversation, so its owners replace the recorded ones. */
export function judgeMessagesSnapshot(judge: Judge, event: MessagesSnapshotEvent): void {
  seedMessages(judge, event.messages, true);
}

function seedMessages(judge: Judge, messages: readonly Message[], authoritative: boolean): void {
  for (const message of messages) {
    if ((message.subagentRunId as unknown) === null)
      judge.report("subagent/null-field", message.id);
    else judge.run.seed(message, authoritative, judge.eventNumber);
  }
}

/** V13, E1, E6, E9. */
export function judgeRunFinished(judge: Judge, event: RunFinishedEvent): void {
  const { run } = judge;
  if (run.openCount > 0) {
    const first = run.openUnits()[0];
    judge.report(
      "run/open-at-finish",
      first?.id,
      `RUN_FINISHED while ${run.openCount} unit(s) are open, the first a ${first?.kind}`,
    );
  }
  if (run.runId !== undefined && (event.runId !== run.runId || event.threadId !== run.threadId)) {
    judge.report("run/finish-ids", event.runId);
  }
  const { outcome } = event;
  if (outcome?.type === "interrupt") judgeInterrupts(judge, outcome.interrupts);
  if (outcome?.type === "success" && outcome.pendingToolCallIds !== undefined) {
    judgePendingCalls(judge, outcome.pendingToolCallIds);
  }
}

function judgeInterrupts(judge: Judge, interrupts: readonly Interrupt[]): void {
  const seen = new Set<string>();
  for (const interrupt of interrupts) {
    if (seen.has(interrupt.id)) judge.report("interrupt/duplicate-id", interrupt.id);
    seen.add(interrupt.id);
    const call = interrupt.toolCallId;
    if (call !== undefined && !judge.earlierCalls.has(call))
      judge.earlierCalls.set(call, undefined);
  }
}

function judgePendingCalls(judge: Judge, listed: readonly string[]): void {
  const { startedCalls, answeredCalls } = judge.run;
  const pending = startedCalls.filter((id) => !answeredCalls.has(id));
  if (pending.length !== listed.length || pending.some((id, index) => id !== listed[index])) {
    judge.report("tool-call/pending-list");
  }
}
