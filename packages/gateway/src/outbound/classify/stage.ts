import { classifyEnvelope, classifyEvent } from "@countersign/policy";
import type { JsonObject } from "@countersign/core";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Stage, Step } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { CallMemory } from "./call-memory.js";

/** Classifies what an event does to the person's screen. A label from the agent can only make the class stricter. */
export const classify: Stage = {
  name: "classify",
  open: (run, next) => new Classifier(run, next),
};

class Classifier extends PassingStep {
  readonly #calls: CallMemory;

  constructor(run: Run, next: Step) {
    super(next);
    this.#calls = new CallMemory(run);
  }

  push(context: EventContext): void {
    const { event, claim } = context;
    if (event === undefined || context.isSynthetic || context.isContinued) {
      return this.next.push(context);
    }
    const calls = this.#calls;
    calls.see(event);
    context.clientVersion = calls.client.version;
    context.facts =
      claim === undefined
        ? classifyEvent(event, calls)
        : classifyEnvelope(claim.envelope as unknown as JsonObject, "outbound", calls.refinements);
    this.next.push(context);
    if (event.type === "TOOL_CALL_END") calls.judged(event.toolCallId);
  }
}
