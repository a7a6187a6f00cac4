import type { EventContext } from "./event-context.js";
import type { Run } from "./run.js";

/** The names of the stages, in the order of the pipeline. */
export type StageName =
  | "decode"
  | "translate"
  | "enforce"
  | "order"
  | "classify"
  | "decide"
  | "record"
  | "deliver";

/** One stage of the pipeline. */
export type Stage = {
  readonly name: StageName;
  /** Opens the stage for one run. The step keeps the state of that run. */
  open(run: Run, next: Step): Step;
};

/** How the agent's stream ended: complete, or with a failure and the code that the client receives. */
export type StreamEnd = { readonly failure?: { readonly code: string; readonly message: string } };

/** One stage in one run. It receives the events that the stage before it forwards. */
export type Step = {
  push(context: EventContext): void;
  /** The pause of the run is over: the stage that set it processes the events that it kept. One of them may set the next pause. */
  proceed(): void;
  /** Records and delivers together the events that were pushed since the last flush. */
  flush(arrivedAt: number): void;
  end(end: StreamEnd): void;
  /** Ends the run after a stage threw in `end`: the failure goes through every stage to the receipt and to the client. */
  fail(failure: NonNullable<StreamEnd["failure"]>): void;
};

/** A step that forwards everything it does not handle. */
export abstract class PassingStep implements Step {
  protected readonly next: Step;

  constructor(next: Step) {
    this.next = next;
  }

  abstract push(context: EventContext): void;

  proceed(): void {
    this.next.proceed();
  }

  flush(arrivedAt: number): void {
    this.next.flush(arrivedAt);
  }

  end(end: StreamEnd): void {
    this.next.end(end);
  }

  fail(failure: NonNullable<StreamEnd["failure"]>): void {
    this.next.fail(failure);
  }
}
