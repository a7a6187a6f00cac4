import { celEnv, celFunc, celList, celMethod, CelScalar, listType } from "@bufbuild/cel";
import type { CelEnv, CelList, CelValue } from "@bufbuild/cel";
import { meteredEnvironment } from "./cost.js";
import { APPEND, TICK } from "./expression.js";

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

/** The functions of CEL. Loops count their iterations, and every function the length of its arguments. */
export function createCelEnvironment(
  meter: Meter,
  compile: (pattern: string) => { test(text: string): boolean },
): CelEnv {
  const { BOOL, DYN, STRING } = CelScalar;
  const LIST = listType(DYN);
  const matches = (text: string, pattern: string): boolean => compile(pattern).test(text);
  const environment = celEnv({
    re2: { compile },
    funcs: [
      celFunc(TICK, [BOOL], BOOL, (condition) => {
        meter.spend(1);
        return condition;
      }),
      celFunc(APPEND, [LIST, LIST], LIST, createAppend()),
      celFunc("matches", [STRING, STRING], BOOL, matches),
      celMethod("matches", STRING, [STRING], BOOL, function match(pattern) {
        return matches(this, pattern);
      }),
    ],
  });
  return meteredEnvironment(environment, (steps) => meter.spend(steps));
}

/** Adds to the result of a loop in place: a loop never reads an earlier result again. */
function createAppend(): (result: CelList, more: CelList) => CelList {
  const results = new WeakMap<CelList, CelValue[]>();
  return (result, more) => {
    const known = results.get(result);
    if (known !== undefined) {
      known.push(...more);
      return result;
    }
    const items = [...result, ...more];
    const list = celList(items);
    results.set(list, items);
    return list;
  };
}
