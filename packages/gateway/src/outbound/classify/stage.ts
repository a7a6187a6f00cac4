import { classifyEnvelope, classifyEvent } from "@countersign/policy";
import type { JsonObject } from "@countersign/core";
import type { EventContext, Step, StreamEnd } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import type { Stage } from "../../event/stage.js";
import { CallMemory } from "./call-memory.js";

/** Says what an event does to the person's screen; a label of the agent's own may only be stricter. */
export const classify: Stage = {
  name: "classify",
  open: (run, next) => new Classifier(run, next),
};

class Classifier implements Step {
  readonly #calls: CallMemory;
  readonly #next: Step;

  constructor(run: Run, next: Step) {
    this.#calls = new CallMemory(run);
    this.#next = next;
  }

  push(context: EventContext): void {
    const { event, claim } = context;
    if (event === undefined) return;
    if (context.supplied) return void this.#next.push(context);
    const calls = this.#calls;
    calls.see(event);
    context.clientVersion = calls.client.version;
    context.facts =
      claim === undefined
        ? classifyEvent(event, calls)
        : classifyEnvelope(claim.envelope as unknown as JsonObject, "outbound", calls.refinements);
    this.#next.push(context);
    if (event.type === "TOOL_CALL_END") calls.judged(event.toolCallId);
  }

  end(end: StreamEnd): void {
    this.#next.end(end);
  }
}
