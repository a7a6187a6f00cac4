import type { InboundRequest } from "../inbound/request.js";
import type { Step } from "./passage.js";
import type { Run } from "./run.js";

/** The names of the stages, in the order of the road. */
export type StageName =
  | "decode"
  | "translate"
  | "enforce"
  | "order"
  | "classify"
  | "decide"
  | "record"
  | "deliver";

/** One stage of the road, for both directions. */
export type Stage = {
  readonly name: StageName;
  /** Agent to person: opened once per run, it keeps that run's state in its closure. */
  open(run: Run, next: Step): Step;
  /** Person to agent: adds its part to the request, or throws why the request is refused. */
  admit(request: InboundRequest): void | Promise<void>;
};
