import { classify } from "./classify/stage.js";
import { decide } from "./decide/stage.js";
import { decode } from "./decode/stage.js";
import type { Failure } from "./deliver/run-error.js";
import { deliver } from "./deliver/stage.js";
import { enforce } from "./enforce/stage.js";
import { order } from "./order/stage.js";
import { record } from "./record/stage.js";
import { translate } from "./translate/stage.js";
import { createEventContext } from "../event/event-context.js";
import type { EventContext } from "../event/event-context.js";
import type { Stage, Step, StreamEnd } from "../event/stage.js";
import type { Run } from "../event/run.js";

/** The stages of an event, in order. Every transport uses them, nothing flows backwards, and no event reaches a client without them. */
export const STAGES: readonly Stage[] = [
  decode,
  translate,
  enforce,
  order,
  classify,
  decide,
  record,
  deliver,
];

/** The stages of one run, opened and connected. Every event from an agent to a client passes through it. */
export class Pipeline {
  readonly #first: Step;
  /** Resolves when the last stage has ended: all events are recorded and sent. */
  readonly done: Promise<void>;

  constructor(run: Run) {
    let finish = (): void => {};
    this.done = new Promise((resolve) => {
      finish = resolve;
    });
    const nothing = (): void => {};
    const last = { push: nothing, resume: nothing, flush: nothing, end: finish, fail: finish };
    this.#first = STAGES.reduceRight<Step>((next, stage) => stage.open(run, next), last);
  }

  push(context: EventContext): void {
    this.#first.push(context);
  }

  /** Processes the events that a stage kept during a hold of the run. */
  resume(): void {
    this.#first.resume();
  }

  /** Records and delivers together the events pushed since the last flush. */
  flush(arrivedAt: number): void {
    this.#first.flush(arrivedAt);
  }

  end(end: StreamEnd): void {
    this.#first.end(end);
  }

  /** Records input that a stage could not read as an event. */
  refuse(code: string, receivedAt: number): void {
    const context = createEventContext(receivedAt);
    context.refused = code;
    this.#first.push(context);
  }

  /** Ends the run after `end` threw. */
  fail(failure: Failure): void {
    this.#first.fail(failure);
  }
}
