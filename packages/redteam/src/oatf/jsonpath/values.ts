import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { equalJson } from "../json/values.js";
import type { Comparison } from "./syntax.js";

/** The absence of a value, which equals only itself (RFC 9535, section 2.3.5.2.2). */
export const NOTHING = Symbol("nothing");

/** A value in a filter, or that there is none. */
export type Value = JsonValue | typeof NOTHING;

/** The result of the function `length` for a value (RFC 9535, section 2.4.4). */
export function lengthOf(value: Value): Value {
  if (typeof value === "string") return [...value].length;
  if (Array.isArray(value)) return value.length;
  return isJsonObject(value) ? Object.keys(value).length : NOTHING;
}

/** Compares as RFC 9535, section 2.3.5.2.2, defines it. */
export function compare(operator: Comparison["op"], left: Value, right: Value): boolean {
  switch (operator) {
    case "==":
      return equal(left, right);
    case "!=":
      return !equal(left, right);
    case "<":
      return less(left, right);
    case ">":
      return less(right, left);
    case "<=":
      return less(left, right) || equal(left, right);
    default:
      return less(right, left) || equal(left, right);
  }
}

function equal(left: Value, right: Value): boolean {
  if (left === NOTHING || right === NOTHING) return left === right;
  return equalJson(left, right);
}

function less(left: Value, right: Value): boolean {
  if (typeof left === "number" && typeof right === "number") return left < right;
  return typeof left === "string" && typeof right === "string" && lessByScalars(left, right);
}

/** RFC 9535 compares Unicode scalar values; JavaScript's `<` would compare UTF-16 code units. */
function lessByScalars(left: string, right: string): boolean {
  const one = left[Symbol.iterator]();
  const other = right[Symbol.iterator]();
  for (;;) {
    const a = one.next();
    const b = other.next();
    if (a.done === true || b.done === true) return a.done === true && b.done !== true;
    if (a.value !== b.value) return (a.value.codePointAt(0) ?? 0) < (b.value.codePointAt(0) ?? 0);
  }
}
