import { isCelList, isCelMap } from "@bufbuild/cel";
import type { CelEnv, CelFunc, CelValue } from "@bufbuild/cel";

type Spend = (steps: number) => void;

const CHARACTERS_PER_STEP = 64;
/** Members that are compared in one step, next to the steps that reading them costs. */
const MEMBERS_PER_STEP = 32;

/** Reads the value of every character of a number: the work grows faster than the text. */
const READS_DIGITS: ReadonlySet<string> = new Set(["int", "uint"]);
const COMPARES: ReadonlySet<string> = new Set(["_==_", "_!=_"]);

/** The same functions, each of which spends steps for its arguments before it runs: a loop can call it with long texts. */
export function meteredEnvironment(environment: CelEnv, spend: Spend): CelEnv {
  const { funcs } = environment;
  const find = (name: string): object | undefined => {
    const func = funcs.find(name);
    if (func === undefined) return undefined;
    const call: CelFunc["call"] = (id, target, args) => {
      spendFor(name, target === undefined ? args : [target, ...args], spend);
      return func.call(id, target, args);
    };
    return Object.create(func, { call: { value: call } }) as object;
  };
  const metered = Object.create(funcs, { find: { value: find } }) as object;
  return Object.create(environment, { funcs: { value: metered } }) as CelEnv;
}

function spendFor(name: string, values: readonly CelValue[], spend: Spend): void {
  const [first, second] = values;
  if (COMPARES.has(name)) {
    if (first !== undefined && second !== undefined) compares(first, second, spend);
  } else if (name === "@in") {
    if (first !== undefined && isCelList(second)) {
      for (const item of second) if (compares(first, item, spend)) return;
    }
  } else if (name === "contains") {
    // A text that nearly fits at every place is compared at every place.
    spend(steps(first) * steps(second));
  } else {
    const factor = READS_DIGITS.has(name) ? CHARACTERS_PER_STEP : 1;
    for (const value of values) if (lengthOf(value) > 0) spend(steps(value) * factor);
  }
}

function steps(text: CelValue | undefined): number {
  return 1 + lengthOf(text) / CHARACTERS_PER_STEP;
}

function lengthOf(value: CelValue | undefined): number {
  return typeof value === "string" || value instanceof Uint8Array ? value.length : 0;
}

/** Spends what a comparison costs, up to the first difference; whether none was found. */
function compares(left: CelValue, right: CelValue, spend: Spend): boolean {
  spend(1 / MEMBERS_PER_STEP);
  if (typeof left === "string" || left instanceof Uint8Array) {
    if (lengthOf(left) !== lengthOf(right)) return false;
    spend(lengthOf(left) / CHARACTERS_PER_STEP);
    return left === right || left instanceof Uint8Array;
  }
  if (isCelList(left)) {
    if (!isCelList(right) || left.size !== right.size) return false;
    for (let at = 0; at < left.size; at += 1) {
      if (!compares(left.get(at) ?? null, right.get(at) ?? null, spend)) return false;
    }
    return true;
  }
  if (isCelMap(left)) {
    if (!isCelMap(right) || left.size !== right.size) return false;
    for (const [key, value] of left) {
      const other = right.get(key);
      if (other === undefined || !compares(value, other, spend)) return false;
    }
    return true;
  }
  // Numbers of several types may be equal, and whether others are is for the library to say.
  if (left === right || typeof left === "object") return true;
  return typeof right !== "object" && Number(left) === Number(right);
}
