import type { AgUiEvent, EventOf } from "../../model/event.js";
import { assertRoomForUnit } from "../limits.js";
import type { NoteSink } from "../note.js";
import { downgradeMessages, downgradeRunInput, flattenParts } from "./downgrade-content.js";

/** The older client releases that a stream can be written for. */
export type LegacyTarget = "0.0.55" | "0.0.59";

/** The code of the error that stands for a cancelled run; its older form would read as success. */
export const CANCELLED_CODE = "RUN_CANCELLED";

/** Takes from each event what an older client would die on; ids, order and outcome stay. */
export function createLegacyDowngrader(
  target: LegacyTarget,
): (event: AgUiEvent, note: NoteSink) => AgUiEvent[] {
  const steps = createStepFilter();
  let errored = false;

  function translate(event: AgUiEvent, note: NoteSink): AgUiEvent | undefined {
    switch (event.type) {
      case "SUBAGENT_STARTED":
      case "SUBAGENT_FINISHED":
      case "SUBAGENT_ERROR":
        if (target === "0.0.59") return event;
        note("event-dropped");
        return undefined;
      case "STEP_STARTED":
      case "STEP_FINISHED":
        // 0.0.55 knows a step by name alone, so a subagent's step collides with its parent's.
        return target === "0.0.59" || steps(event, note) ? event : undefined;
      case "RUN_STARTED":
        steps(event, note);
        return event.input === undefined
          ? event
          : { ...event, input: downgradeRunInput(event.input, "/input", note) };
      case "RUN_FINISHED":
        return downgradeFinish(event, note);
      case "TOOL_CALL_RESULT":
        return typeof event.content === "string"
          ? event
          : { ...event, content: flattenParts(event.content, "/content", note) };
      case "MESSAGES_SNAPSHOT":
        return { ...event, messages: downgradeMessages(event.messages, "/messages", note) };
      case "STATE_SNAPSHOT":
        if (event.snapshot === null) note("null-snapshot-ignored", "/snapshot");
        return event;
      default:
        return event;
    }
  }

  return (event, note) => {
    if (errored) {
      if (target === "0.0.55" || event.type !== "RUN_STARTED") {
        note("after-error-dropped");
        return [];
      }
      errored = false;
    }
    const result = translate(event, note);
    if (result?.type === "RUN_ERROR") errored = true;
    return result === undefined ? [] : [result];
  };
}

function downgradeFinish(event: EventOf<"RUN_FINISHED">, note: NoteSink): AgUiEvent {
  const { outcome } = event;
  if (outcome?.type === "cancelled") {
    note("outcome-is-error", "/outcome");
    if (event.result !== undefined) note("field-dropped", "/result");
    return {
      type: "RUN_ERROR",
      ...(event.timestamp === undefined ? {} : { timestamp: event.timestamp }),
      ...(event.rawEvent === undefined ? {} : { rawEvent: event.rawEvent }),
      ...(event.metadata === undefined ? {} : { metadata: event.metadata }),
      message: "The run was cancelled.",
      code: CANCELLED_CODE,
      ...(event.usage === undefined ? {} : { usage: event.usage }),
    };
  }
  if (outcome?.type !== "success" || outcome.pendingToolCallIds === undefined) return event;
  note("field-dropped", "/outcome/pendingToolCallIds");
  return { ...event, outcome: { type: "success" } };
}

type StepOrRunStart = EventOf<"STEP_STARTED" | "STEP_FINISHED" | "RUN_STARTED">;

/** Whether a step may pass to a client that allows one open step per name. */
function createStepFilter(): (event: StepOrRunStart, note: NoteSink) => boolean {
  const owners = new Map<string, string | undefined>();
  return (event, note) => {
    if (event.type === "RUN_STARTED") {
      owners.clear();
      return true;
    }
    const shown = owners.has(event.stepName);
    if (event.type === "STEP_STARTED" && !shown) {
      assertRoomForUnit(owners);
      owners.set(event.stepName, event.subagentRunId);
      return true;
    }
    const closesShown = shown && owners.get(event.stepName) === event.subagentRunId;
    if (event.type === "STEP_FINISHED" && closesShown) {
      owners.delete(event.stepName);
      return true;
    }
    note("step-dropped");
    return false;
  };
}
