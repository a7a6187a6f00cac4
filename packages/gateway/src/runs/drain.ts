import { CountersignError } from "@countersign/core";
import "./errors.js";

/** Whether the gateway still takes new runs. */
export type Drain = { isDraining: boolean };

/** Refuses a new run once the gateway has been told to stop. */
export function assertTakingRuns({ isDraining }: Drain): void {
  if (isDraining) {
    throw new CountersignError("ERR_RUN_DRAINING", "the gateway takes no new runs", {});
  }
}
