import type {
  ActivityDeltaEvent,
  ActivitySnapshotEvent,
  ReasoningEncryptedValueEvent,
  StepFinishedEvent,
  StepStartedEvent,
  SubagentErrorEvent,
  SubagentFinishedEvent,
  SubagentStartedEvent,
} from "../model/event.js";
import { requireOwner } from "./judge.js";
import type { Judge } from "./judge.js";

/** V8: a step is (owner, name); two owners may have the same name open. */
export function judgeStep(judge: Judge, event: StepStartedEvent | StepFinishedEvent): void {
  const { run } = judge;
  const owner = event.subagentRunId;
  const names = run.steps.get(owner);
  const isOpen = names?.has(event.stepName) === true;
  if (event.type === "STEP_STARTED") {
    if (isOpen) {
      judge.report("step/already-open", event.stepName);
      return;
    }
    run.remember(event.stepName, judge.eventNumber);
    run.opened(judge.eventNumber);
    if (names === undefined) run.steps.set(owner, new Set([event.stepName]));
    else names.add(event.stepName);
    return;
  }
  if (names === undefined || !isOpen) {
    judge.report("step/not-open", event.stepName);
    return;
  }
  names.delete(event.stepName);
  if (names.size === 0) run.steps.delete(owner);
  run.forget(event.stepName);
  run.closed();
}

/** V10: a replacing snapshot owns the activity anew; `replace: false` leaves a known one alone. */
export function judgeActivitySnapshot(judge: Judge, event: ActivitySnapshotEvent): void {
  const { activities } = judge.run;
  const known = activities.has(event.messageId);
  if (known && event.replace === false) return;
  if (!known) judge.run.remember(event.messageId, judge.eventNumber);
  activities.set(event.messageId, event.subagentRunId);
}

/** V11: owner agreement, no check that the activity exists. */
export function judgeActivityDelta(judge: Judge, event: ActivityDeltaEvent): void {
  const { activities } = judge.run;
  if (!activities.has(event.messageId)) return;
  requireOwner(
    judge,
    event.subagentRunId,
    { owner: activities.get(event.messageId) },
    event.messageId,
  );
}

/** V11: owner agreement with the call, or with the text or reasoning message. */
export function judgeEncryptedValue(judge: Judge, event: ReasoningEncryptedValueEvent): void {
  const { run } = judge;
  const id = event.entityId;
  const record =
    event.subtype === "tool-call"
      ? run.calls.get(id)
      : (run.messages.get(id) ?? run.reasoning.get(id));
  requireOwner(judge, event.subagentRunId, record, id);
}

/** V12 and E10 for SUBAGENT_STARTED. */
export function judgeSubagentStarted(judge: Judge, event: SubagentStartedEvent): void {
  const { run } = judge;
  const id = event.subagentRunId;
  if (typeof id !== "string" || typeof event.name !== "string") {
    judge.report("subagent/required-field");
    return;
  }
  const state = run.subagents.get(id);
  if (state === "active") {
    judge.report("subagent/already-active", id);
    return;
  }
  if (state === "closed") judge.report("subagent/reused", id);
  if (state === "tagged") judge.report("subagent/announced-late", id);
  if (event.parentSubagentRunId !== undefined) {
    const parent = run.subagents.get(event.parentSubagentRunId);
    if (parent !== "active" && parent !== "closed") judge.report("subagent/unknown-parent", id);
  }
  if (state === undefined) run.remember(id, judge.eventNumber);
  run.subagents.set(id, "active");
  run.opened(judge.eventNumber);
}

/** V12 for SUBAGENT_FINISHED and SUBAGENT_ERROR. */
export function judgeSubagentEnd(
  judge: Judge,
  event: SubagentFinishedEvent | SubagentErrorEvent,
): void {
  const { run } = judge;
  const id = event.subagentRunId;
  if (
    typeof id !== "string" ||
    (event.type === "SUBAGENT_ERROR" && typeof event.message !== "string")
  ) {
    judge.report("subagent/required-field");
    return;
  }
  if (run.subagents.get(id) !== "active") {
    judge.report("subagent/not-active", id);
    return;
  }
  run.subagents.set(id, "closed");
  run.closed();
}
