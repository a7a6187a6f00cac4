import { CountersignError } from "@countersign/core";
import "../inbound/errors.js";

/** Whether the gateway still takes new runs. */
export type Drain = {
  /** The gateway is no longer ready: load balancers take it out, what still comes is served. */
  isLeaving: boolean;
  /** New runs are refused. */
  isDraining: boolean;
};

/** Refuses a new run once the gateway has been told to stop. */
export function assertTakingRuns({ isDraining }: Drain): void {
  if (isDraining) {
    throw new CountersignError("ERR_RUN_DRAINING", "the gateway takes no new runs", {});
  }
}
