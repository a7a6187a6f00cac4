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
import type { EventContext, Step, StreamEnd } from "../event/event-context.js";
import type { Run } from "../event/run.js";
import type { Stage } from "../event/stage.js";

/**
 * The pipeline of an event, in order. Every transport and both directions walk it; nothing flows backwards,
 * and there is no other way to a person.
 */
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

/** The open pipeline of one run: what is pushed in comes out at the person's end, or nowhere. */
export class Pipeline implements Step {
  readonly #first: Step;
  readonly #recording: Step;
  readonly #done: Promise<void>;

  constructor(run: Run) {
    let finish = (): void => {};
    this.#done = new Promise((resolve) => {
      finish = resolve;
    });
    let recording: Step | undefined;
    this.#first = STAGES.reduceRight<Step>(
      (next, stage) => {
        const step = stage.open(run, next);
        if (stage === record) recording = step;
        return step;
      },
      { push: () => {}, end: finish },
    );
    this.#recording = recording as Step;
  }

  push(context: EventContext): void {
    this.#first.push(context);
  }

  /** What was pushed since the last time belongs together: it is signed for and delivered as one. */
  flush(arrivedAt: number): void {
    this.#recording.flush?.(arrivedAt);
  }

  end(end: StreamEnd): void {
    this.#first.end(end);
  }

  /** Signs for something that a stage before the decision refused as no event at all. */
  refuse(code: string, receivedAt: number): void {
    const context = createEventContext(receivedAt);
    context.refused = code;
    this.#recording.push(context);
  }

  /** Ends the run where a stage cannot even be ended any more: straight to the record and the person. */
  fail(failure: Failure): void {
    this.#recording.end({ failure });
  }

  /** Resolves when the person's end is closed: everything before it is recorded and written. */
  get done(): Promise<void> {
    return this.#done;
  }
}
