import { enforceEvent } from "@countersign/wire/enforce";
import { PassingStep } from "../../event/event-context.js";
import type { EventContext, Step } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import type { Stage } from "../../event/stage.js";
import { assertEventIdentifiers } from "./identifiers.js";

/** Holds every event to the AG-UI 1.0 schema: unknown material is dropped and noted, malformed is fatal. */
export const enforce: Stage = {
  name: "enforce",
  open: (run, next) => new Enforcer(run, next),
};

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
    assertEventIdentifiers(event, this.#run.limits.maxIdLength);
    context.event = event;
    this.next.push(context);
  }
}
