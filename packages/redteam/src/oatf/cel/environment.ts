import { createCelEnvironment } from "@countersign/core/cel";
import type { Meter } from "@countersign/core/cel";
import type { CelEnv } from "@bufbuild/cel";
import { requireRegex } from "../regex/compile.js";
import type { LinearRegex } from "../regex/compile.js";

/** A pattern that is not yet compiled may take 40 ms. */
const STEPS_PER_NEW_PATTERN = 1000;

/** The functions of CEL; a pattern that is new counts too. */
export function createEnvironment(meter: Meter): CelEnv {
  const known = new Set<string>();
  const compile = (pattern: string): LinearRegex => {
    if (!known.has(pattern)) {
      meter.spend(STEPS_PER_NEW_PATTERN);
      if (known.size < 1000) known.add(pattern);
    }
    return requireRegex(pattern);
  };
  return createCelEnvironment(meter, compile);
}
