import { assertWithin } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { enforceEvent } from "@countersign/wire/enforce";
import { PassingStep } from "../../event/stage.js";
import type { EventContext } from "../../event/event-context.js";
import type { Stage, Step } from "../../event/stage.js";
import type { Run } from "../../event/run.js";
import { listOf } from "../../event/unit.js";
import { assertEventIdentifiers } from "./identifiers.js";

/** Validates every event against the AG-UI 1.0 schema. It drops and reports unknown members; malformed input ends the run. */
export const enforce: Stage = {
  name: "enforce",
  open: (run, next) => new Enforcer(run, next),
};

/** The gateway judges, compares and records each listed message or tool call, which costs as much as ten values. */
const VALUES_PER_MESSAGE = 10;

/** The messages of a list, with the tool calls on them. */
function countListed(event: AgUiEvent): number {
  const messages = listOf(event);
  if (messages === undefined) return 0;
  let count = messages.length;
  for (const message of messages) {
    if (message.role === "assistant") count += message.toolCalls?.length ?? 0;
  }
  return count;
}

class Enforcer extends PassingStep {
  readonly #run: Run;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
  }

  push(context: EventContext): void {
    if (context.value === undefined) return this.next.push(context);
    const { event, notes } = enforceEvent(context.value);
    if (notes.length > 0) this.#run.observer.notes(notes);
    if (event === undefined) return;
    const { maxEventValues, maxIdLength } = this.#run.limits;
    assertWithin("maxEventValues", VALUES_PER_MESSAGE * countListed(event), maxEventValues);
    assertEventIdentifiers(event, maxIdLength);
    context.event = event;
    this.next.push(context);
  }
}
