import { PassingStep } from "../../event/event-context.js";
import type { EventContext, Step } from "../../event/event-context.js";
import type { Run } from "../../event/run.js";
import { UNSOUND, UNSOUND_RULE } from "../deliver/run-error.js";
import { createGuard } from "./guard.js";
import { review } from "./review.js";
import { ownDenial } from "./structure.js";

/** Applies the rules about the form that leaves, to each event that was allowed so far. */
export class FinalRules extends PassingStep {
  readonly #run: Run;
  readonly #guard = createGuard();
  #isOver = false;

  constructor(run: Run, next: Step) {
    super(next);
    this.#run = run;
  }

  push(context: EventContext): void {
    if (this.#isOver) return;
    const decision = review(this.#run, context);
    if (decision !== undefined && decision !== context.decision) {
      context.decision = decision;
      // The person gets nothing more of this run but its end, so nothing more is signed as delivered.
      this.#isOver = !decision.allow && decision.onBlock === "end";
    }
    if (!this.#isSound(context)) this.#isOver = true;
    this.next.push(context);
  }

  /**
   * Gives an event the form that its client accepts; blocks an event without such a form.
   *
   * This happens before the event is hashed: a receipt names the bytes that leave, and never calls something delivered
   * that could not be.
   */
  #isSound(context: EventContext): boolean {
    const { event, emitted, decision, part, supplied } = context;
    if (event === undefined || part || (!supplied && decision?.allow !== true)) return true;
    const shown = emitted ?? event;
    const sound = this.#guard.check(shown);
    if (sound === undefined) {
      context.decision = ownDenial(UNSOUND_RULE, UNSOUND.message, "end");
      return false;
    }
    if (sound !== shown) context.emitted = sound;
    return true;
  }
}
