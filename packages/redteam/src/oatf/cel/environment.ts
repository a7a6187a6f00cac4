import { celEnv, celFunc, celMethod, CelScalar, listType } from "@bufbuild/cel";
import type { CelEnv, CelValue } from "@bufbuild/cel";
import { requireRegex } from "../regex/compile.js";
import { TICK } from "./expression-tree.js";
import { meteredList } from "./json-view.js";
import type { Meter } from "./meter.js";

const { BOOL, DYN, INT, STRING } = CelScalar;
const CHARACTERS_PER_STEP = 64;
/** A pattern that is not yet compiled may take 40 ms. */
const STEPS_PER_NEW_PATTERN = 1000;

/**
 * The functions of CEL, with everything whose cost grows with its arguments counted. Overloads given here
 * replace those of the library with the same signature.
 */
export function createEnvironment(meter: Meter): CelEnv {
  const known = new Set<string>();
  const read = (text: string): void => meter.spend(1 + text.length / CHARACTERS_PER_STEP);
  const matches = (text: string, pattern: string): boolean => {
    read(text);
    if (!known.has(pattern)) {
      meter.spend(STEPS_PER_NEW_PATTERN);
      if (known.size < 1000) known.add(pattern);
    }
    return requireRegex(pattern).test(text);
  };
  const size = (text: string): bigint => {
    read(text);
    let count = 0n;
    for (const _character of text) count += 1n;
    return count;
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
        read(this);
        return this.includes(part);
      }),
      celFunc("size", [STRING], INT, size),
      celMethod("size", STRING, [], INT, function count() {
        return size(this);
      }),
      celFunc("_+_", [STRING, STRING], STRING, (left, right) => {
        read(left);
        read(right);
        return left + right;
      }),
      // The library chains the halves, so that what `map` builds is as deep as it is long.
      celFunc("_+_", [listType(DYN), listType(DYN)], listType(DYN), (left, right) => {
        meter.spend(1 + (left.size + right.size) / 16);
        return meteredList([...left, ...right] as CelValue[], (item) => item, meter);
      }),
    ],
  });
}
