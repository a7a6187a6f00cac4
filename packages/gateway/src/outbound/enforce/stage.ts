import { enforceEvent } from "@countersign/wire/enforce";
import type { EventContext, Step, StreamEnd } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import type { Stage } from "../../event/stage.js";
import { assertEventIdentifiers } from "./identifiers.js";

/** Holds every event to the AG-UI 1.0 schema: unknown material is dropped and noted, malformed is fatal. */
export const enforce: Stage = {
  name: "enforce",
  open: (run, next) => new Enforcer(run, next),
};

class Enforcer implements Step {
  readonly #run: Run;
  readonly #next: Step;

  constructor(run: Run, next: Step) {
    this.#run = run;
    this.#next = next;
  }

  push(context: EventContext): void {
    if (context.value === undefined) return;
    const { event, notes } = enforceEvent(context.value);
    if (notes.length > 0) this.#run.observer.notes(notes);
    if (event === undefined) return;
    assertEventIdentifiers(event, this.#run.limits.maxIdLength);
    context.event = event;
    this.#next.push(context);
  }

  end(end: StreamEnd): void {
    this.#next.end(end);
  }
}
