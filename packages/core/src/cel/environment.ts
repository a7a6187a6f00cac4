import { celEnv, celFunc, celMethod, CelScalar } from "@bufbuild/cel";
import type { CelEnv, CelFunc } from "@bufbuild/cel";
import { TICK } from "./expression.js";

/**
 * Counts the work of one evaluation. CEL always terminates, but nested loops over a large value
 * terminate late (three nested `all` over 100 items took 2.5 s when measured). CEL also lets `||`
 * swallow an error, so the meter remembers that the steps ran out.
 */
export type Meter = {
  reset(): void;
  spend(steps: number): void;
  readonly exhausted: boolean;
};

/** The limits of one evaluation. */
export type MeterLimits = {
  readonly steps: number;
  /** Also a limit in time; the steps end an evaluation first on any machine that is not stuck. */
  readonly time?: { readonly milliseconds: number; readonly now: () => number };
};

const STEPS_BETWEEN_LOOKS = 128;
const CHARACTERS_PER_STEP = 64;

/** A meter for any number of evaluations, one after the other; `reset` begins one. */
export function createMeter({ steps: limit, time }: MeterLimits): Meter {
  let remaining = limit;
  let nextLook = -1;
  let deadline = 0;
  return {
    reset() {
      remaining = limit;
      if (time === undefined) return;
      nextLook = remaining - STEPS_BETWEEN_LOOKS;
      deadline = time.now() + time.milliseconds;
    },
    spend(steps) {
      remaining -= steps;
      if (time !== undefined && remaining <= nextLook) {
        nextLook = remaining - STEPS_BETWEEN_LOOKS;
        if (time.now() > deadline) remaining = -1;
      }
      if (remaining < 0) throw new Error("the expression takes too long");
    },
    get exhausted() {
      return remaining < 0;
    },
  };
}

/** Counts a text that is read from its beginning to its end. */
export function spendText(meter: Meter, text: string): void {
  meter.spend(1 + text.length / CHARACTERS_PER_STEP);
}

/**
 * The functions of CEL. Loops, `matches` and `contains` count their work. A function in `more`
 * replaces the one of the library with the same signature.
 */
export function createCelEnvironment(
  meter: Meter,
  compile: (pattern: string) => { test(text: string): boolean },
  more: readonly CelFunc[] = [],
): CelEnv {
  const { BOOL, STRING } = CelScalar;
  const matches = (text: string, pattern: string): boolean => {
    spendText(meter, text);
    return compile(pattern).test(text);
  };
  return celEnv({
    re2: { compile: (pattern) => ({ test: (text) => matches(text, pattern) }) },
    funcs: [
      celFunc(TICK, [BOOL], BOOL, (condition) => {
        meter.spend(1);
        return condition;
      }),
      celFunc("matches", [STRING, STRING], BOOL, matches),
      celMethod("matches", STRING, [STRING], BOOL, function match(pattern) {
        return matches(this, pattern);
      }),
      celMethod("contains", STRING, [STRING], BOOL, function contains(part) {
        spendText(meter, this);
        return this.includes(part);
      }),
      ...more,
    ],
  });
}
