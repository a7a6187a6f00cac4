import { createCelEnvironment, meteredList, spendText } from "@countersign/core/cel";
import type { Meter } from "@countersign/core/cel";
import { celFunc, celMethod, CelScalar, listType } from "@bufbuild/cel";
import type { CelEnv, CelValue } from "@bufbuild/cel";
import { requireRegex } from "../regex/compile.js";
import type { LinearRegex } from "../regex/compile.js";

const { DYN, INT, STRING } = CelScalar;
/** A pattern that is not yet compiled may take 40 ms. */
const STEPS_PER_NEW_PATTERN = 1000;

/** The functions of CEL, with everything whose cost grows with its arguments counted. */
export function createEnvironment(meter: Meter): CelEnv {
  const known = new Set<string>();
  const compile = (pattern: string): LinearRegex => {
    if (!known.has(pattern)) {
      meter.spend(STEPS_PER_NEW_PATTERN);
      if (known.size < 1000) known.add(pattern);
    }
    return requireRegex(pattern);
  };
  const size = (text: string): bigint => {
    spendText(meter, text);
    let count = 0n;
    for (const _character of text) count += 1n;
    return count;
  };
  return createCelEnvironment(meter, compile, [
    celFunc("size", [STRING], INT, size),
    celMethod("size", STRING, [], INT, function count() {
      return size(this);
    }),
    celFunc("_+_", [STRING, STRING], STRING, (left, right) => {
      spendText(meter, left);
      spendText(meter, right);
      return left + right;
    }),
    // The library chains the halves, so that what `map` builds is as deep as it is long.
    celFunc("_+_", [listType(DYN), listType(DYN)], listType(DYN), (left, right) => {
      meter.spend(1 + (left.size + right.size) / 16);
      return meteredList([...left, ...right] as CelValue[], (item) => item, meter);
    }),
  ]);
}
