import type { JsonValue } from "@countersign/core";
import { createTriggerState, evaluateTrigger, parseDuration } from "../oatf/index.js";
import type { Trigger, TriggerState } from "../oatf/index.js";

/** The longest time that a timer of Node can wait. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Watches for what ends the phase an actor is in: an event, or the time. */
export class PhaseTriggers {
  /** The phase has ended and the next one may begin. */
  isOver = false;
  #trigger: Trigger | undefined;
  #state: TriggerState = createTriggerState();
  #enteredAt = 0;
  #timer: NodeJS.Timeout | undefined;

  /** Starts anew with the trigger of a phase; `wake` is called when its time is up. */
  enter(trigger: Trigger | undefined, wake: () => void): void {
    this.stop();
    this.isOver = false;
    this.#trigger = trigger;
    this.#state = createTriggerState();
    this.#enteredAt = performance.now();
    if (trigger?.after === undefined) return;
    const milliseconds = Math.min(parseDuration(trigger.after) * 1000, LONGEST_TIMER);
    this.#timer = setTimeout(() => {
      this.isOver = true;
      wake();
    }, milliseconds);
  }

  /** Offers a message that was just recorded. */
  observe(event: string, content: JsonValue): void {
    if (this.isOver || this.#trigger === undefined) return;
    const elapsed = (performance.now() - this.#enteredAt) / 1000;
    const answer = evaluateTrigger(this.#trigger, { event, content }, elapsed, this.#state);
    this.#state = answer.state;
    this.isOver = answer.advanced;
  }

  /** Leaves the clock. */
  stop(): void {
    clearTimeout(this.#timer);
  }
}
