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
import { requireOwner } from "./rule-context.js";
import type { RuleContext } from "./rule-context.js";

/** V8: a step is (owner, name); two owners may have the same name open. */
export function checkStep(context: RuleContext, event: StepStartedEvent | StepFinishedEvent): void {
  const { run } = context;
  const owner = event.subagentRunId;
  const names = run.steps.get(owner);
  const isOpen = names?.has(event.stepName) === true;
  if (event.type === "STEP_STARTED") {
    if (isOpen) {
      context.report("step/already-open", event.stepName);
      return;
    }
    run.remember(event.stepName, context.eventNumber);
    run.opened(context.eventNumber);
    if (names === undefined) run.steps.set(owner, new Set([event.stepName]));
    else names.add(event.stepName);
    return;
  }
  if (names === undefined || !isOpen) {
    context.report("step/not-open", event.stepName);
    return;
  }
  names.delete(event.stepName);
  if (names.size === 0) run.steps.delete(owner);
  run.forget(event.stepName);
  run.closed();
}

/** V10: a replacing snapshot owns the activity anew; `replace: false` leaves a known one alone. */
export function checkActivitySnapshot(context: RuleContext, event: ActivitySnapshotEvent): void {
  const { activities } = context.run;
  const known = activities.has(event.messageId);
  if (known && event.replace === false) return;
  if (!known) context.run.remember(event.messageId, context.eventNumber);
  activities.set(event.messageId, event.subagentRunId);
}

/** V11: owner agreement, no check that the activity exists. */
export function checkActivityDelta(context: RuleContext, event: ActivityDeltaEvent): void {
  const { activities } = context.run;
  if (!activities.has(event.messageId)) return;
  requireOwner(
    context,
    event.subagentRunId,
    { owner: activities.get(event.messageId) },
    event.messageId,
  );
}

/** V11: owner agreement with the call, or with the text or reasoning message. */
export function checkEncryptedValue(
  context: RuleContext,
  event: ReasoningEncryptedValueEvent,
): void {
  const { run } = context;
  const id = event.entityId;
  const record =
    event.subtype === "tool-call"
      ? run.calls.get(id)
      : (run.messages.get(id) ?? run.reasoning.get(id));
  requireOwner(context, event.subagentRunId, record, id);
}

/** V12 and E10 for SUBAGENT_STARTED. */
export function checkSubagentStarted(context: RuleContext, event: SubagentStartedEvent): void {
  const { run } = context;
  const id = event.subagentRunId;
  if (typeof id !== "string" || typeof event.name !== "string") {
    context.report("subagent/required-field");
    return;
  }
  const state = run.subagents.get(id);
  if (state === "active") {
    context.report("subagent/already-active", id);
    return;
  }
  if (state === "closed") context.report("subagent/reused", id);
  if (state === "tagged") context.report("subagent/announced-late", id);
  if (event.parentSubagentRunId !== undefined) {
    const parent = run.subagents.get(event.parentSubagentRunId);
    if (parent !== "active" && parent !== "closed") context.report("subagent/unknown-parent", id);
  }
  if (state === undefined) run.remember(id, context.eventNumber);
  run.subagents.set(id, "active");
  run.opened(context.eventNumber);
}

/** V12 for SUBAGENT_FINISHED and SUBAGENT_ERROR. */
export function checkSubagentEnd(
  context: RuleContext,
  event: SubagentFinishedEvent | SubagentErrorEvent,
): void {
  const { run } = context;
  const id = event.subagentRunId;
  if (
    typeof id !== "string" ||
    (event.type === "SUBAGENT_ERROR" && typeof event.message !== "string")
  ) {
    context.report("subagent/required-field");
    return;
  }
  if (run.subagents.get(id) !== "active") {
    context.report("subagent/not-active", id);
    return;
  }
  run.subagents.set(id, "closed");
  run.closed();
}
