import { EvaluationFailure } from "../evaluate/evaluation-error.js";

/** Steps one evaluation may take: a loop round, a value read, or 256 characters of text. */
export const MAX_CEL_STEPS = 50_000;
/** Milliseconds one evaluation may take; the steps end it long before on any machine that is not stuck. */
export const MAX_CEL_MILLISECONDS = 1000;

const STEPS_BETWEEN_LOOKS = 128;

/**
 * Counts the work of one evaluation. CEL always ends, but three nested loops over 100 items took 2.5 s
 * when measured. CEL also lets `||` swallow errors, so running out is remembered here.
 */
export type Meter = {
  reset(): void;
  spend(steps: number): void;
  readonly exhausted: boolean;
};

/** A meter that serves any number of evaluations, one after the other. */
export function createMeter(now: () => number): Meter {
  let remaining = 0;
  let nextLook = 0;
  let deadline = 0;
  return {
    reset() {
      remaining = MAX_CEL_STEPS;
      nextLook = remaining - STEPS_BETWEEN_LOOKS;
      deadline = now() + MAX_CEL_MILLISECONDS;
    },
    spend(steps) {
      remaining -= steps;
      if (remaining <= nextLook) {
        nextLook = remaining - STEPS_BETWEEN_LOOKS;
        if (now() > deadline) remaining = -1;
      }
      if (remaining < 0) throw new EvaluationFailure("cel_error", "the expression takes too long");
    },
    get exhausted() {
      return remaining < 0;
    },
  };
}
