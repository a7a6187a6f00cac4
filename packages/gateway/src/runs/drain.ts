import { CountersignError } from "@countersign/core";
import "../base/errors.js";

/** Whether the gateway accepts new runs. */
export type Drain = {
  /** The gateway is no longer ready: load balancers remove it, and requests that still arrive are served. */
  isLeaving: boolean;
  /** New runs are rejected. */
  isDraining: boolean;
};

/** Rejects a new run while the gateway drains. */
export function assertTakingRuns({ isDraining }: Drain): void {
  if (isDraining) {
    throw new CountersignError("ERR_RUN_DRAINING", "the gateway accepts no new runs", {});
  }
}
