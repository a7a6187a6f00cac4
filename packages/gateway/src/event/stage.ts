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

/** One stage of the pipeline. */
export type Stage = {
  readonly name: StageName;
  /** Opens the stage for one run. The step keeps the state of that run. */
  open(run: Run, next: Step): Step;
};
