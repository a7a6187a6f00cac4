import type { Step } from "./event-context.js";
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

/** One stage of the pipeline of an event. */
export type Stage = {
  readonly name: StageName;
  /** Opened once per run: the step keeps that run's state. */
  open(run: Run, next: Step): Step;
};
