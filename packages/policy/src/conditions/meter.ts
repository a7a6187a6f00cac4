/** Maximum steps of one evaluation: a loop iteration, or 64 searched characters. */
export const MAX_CONDITION_STEPS = 20_000;

/** Thrown inside the evaluator, never outside it. */
class OutOfSteps extends Error {}

/**
 * Counts the work of one evaluation. CEL always terminates, but nested loops over a large event
 * terminate late (three nested `all` over 100 items took 2.5 s when measured). CEL also lets `||`
 * swallow an error, so running out of steps is recorded here.
 */
export type Meter = {
  reset(): void;
  spend(steps: number): void;
  readonly exhausted: boolean;
};

/** A new meter; it serves any number of evaluations, one after the other. */
export function createMeter(limit: number = MAX_CONDITION_STEPS): Meter {
  let remaining = limit;
  return {
    reset() {
      remaining = limit;
    },
    spend(steps) {
      remaining -= steps;
      if (remaining < 0) throw new OutOfSteps("the condition takes too many steps");
    },
    get exhausted() {
      return remaining < 0;
    },
  };
}
