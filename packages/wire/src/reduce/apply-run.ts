import type { JsonValue } from "@countersign/core";
import type {
  RunErrorEvent,
  RunFinishedEvent,
  RunStartedEvent,
  StepFinishedEvent,
  StepStartedEvent,
  SubagentErrorEvent,
  SubagentFinishedEvent,
  SubagentStartedEvent,
} from "../model/event.js";
import { requireWithin } from "./limits.js";
import { NOTHING } from "./run-model.js";
import type { RunModel } from "./run-model.js";
import type { StepView, SubagentView } from "./view.js";

/** A new run: its own tally, and echoed messages with unseen ids join the conversation. */
export function applyRunStarted(model: RunModel, event: RunStartedEvent): void {
  model.threadId = event.threadId;
  model.runId = event.runId;
  model.status = "running";
  model.error = undefined;
  model.result = undefined;
  model.usage = NOTHING;
  model.steps = NOTHING;
  model.subagents = NOTHING;
  model.pendingToolCallIds = NOTHING;
  model.releaseRun();
  model.startedCalls.clear();
  model.answeredCalls.clear();
  for (const message of event.input?.messages ?? []) {
    if (model.store.has(message.id)) continue;
    model.hold(model.measure(message as unknown as JsonValue));
    model.store.append(message);
  }
  model.changed();
}

/** How the run ended; an interrupt fills the pending interrupts, anything else clears them. */
export function applyRunFinished(model: RunModel, event: RunFinishedEvent): void {
  const { outcome } = event;
  model.usage = event.usage ?? NOTHING;
  model.pendingToolCallIds = NOTHING;
  model.pendingInterrupts = NOTHING;
  if (outcome?.type === "interrupt") {
    model.status = "interrupted";
    model.pendingInterrupts = outcome.interrupts;
  } else if (outcome?.type === "cancelled") {
    model.status = "cancelled";
  } else {
    model.status = "finished";
    model.result = event.result;
    const listed = outcome?.pendingToolCallIds ?? NOTHING;
    model.pendingToolCallIds =
      listed.length > 0
        ? listed
        : [...model.startedCalls.keys()].filter((id) => !model.answeredCalls.has(id));
  }
  model.changed();
}

/** The run failed; its messages and pending interrupts stay. */
export function applyRunError(model: RunModel, event: RunErrorEvent): void {
  model.status = "failed";
  model.error = {
    message: event.message,
    ...(event.code !== undefined && { code: event.code }),
  };
  if (event.usage !== undefined) model.usage = event.usage;
  model.changed();
}

/** A step opens at the end of the list, or its latest running namesake is finished. */
export function applyStep(model: RunModel, event: StepStartedEvent | StepFinishedEvent): void {
  if (event.type === "STEP_STARTED") {
    requireWithin("maxUnits", model.steps.length + 1, model.limits);
    model.holdForRun(event.stepName.length + 64);
    const step: StepView = {
      name: event.stepName,
      ...(event.subagentRunId !== undefined && { subagentRunId: event.subagentRunId }),
      status: "running",
    };
    model.steps = [...model.steps, step];
  } else {
    const index = model.steps.findLastIndex(
      (step) =>
        step.name === event.stepName &&
        step.subagentRunId === event.subagentRunId &&
        step.status === "running",
    );
    const step = model.steps[index];
    if (step === undefined) return;
    model.steps = model.steps.with(index, { ...step, status: "finished" });
  }
  model.changed();
}

/** A subagent begins. */
export function applySubagentStarted(model: RunModel, event: SubagentStartedEvent): void {
  requireWithin("maxUnits", model.subagents.length + 1, model.limits);
  const { description, parentSubagentRunId, parentToolCallId, parentMessageId } = event;
  model.holdForRun(
    event.subagentRunId.length + event.name.length + (description?.length ?? 0) + 64,
  );
  const subagent: SubagentView = {
    id: event.subagentRunId,
    name: event.name,
    ...(description !== undefined && { description }),
    ...(parentSubagentRunId !== undefined && { parentSubagentRunId }),
    ...(parentToolCallId !== undefined && { parentToolCallId }),
    ...(parentMessageId !== undefined && { parentMessageId }),
    status: "running",
  };
  model.subagents = [...model.subagents, subagent];
  model.changed();
}

/** A subagent ends; its failure is not the run's. */
export function applySubagentEnd(
  model: RunModel,
  event: SubagentFinishedEvent | SubagentErrorEvent,
): void {
  const index = model.subagents.findLastIndex((subagent) => subagent.id === event.subagentRunId);
  const subagent = model.subagents[index];
  if (subagent === undefined) return;
  const { code } = event.type === "SUBAGENT_ERROR" ? event : {};
  const ended: SubagentView =
    event.type === "SUBAGENT_ERROR"
      ? {
          ...subagent,
          status: "failed",
          error: { message: event.message, ...(code !== undefined && { code }) },
        }
      : { ...subagent, status: event.outcome?.type === "suspended" ? "suspended" : "finished" };
  model.subagents = model.subagents.with(index, ended);
  model.changed();
}
