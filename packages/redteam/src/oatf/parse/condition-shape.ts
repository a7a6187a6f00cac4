import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { isOperatorObject } from "../primitives/condition.js";
import type { Shape } from "./shape.js";
import { ANYTHING, BOOLEAN, closedObject, listOf, mapOf, NUMBER, optional, TEXT } from "./shape.js";

/** The operators a short pattern may carry, with their operands. */
const SHORT_OPERATORS = {
  contains: optional(TEXT),
  starts_with: optional(TEXT),
  ends_with: optional(TEXT),
  regex: optional(TEXT),
  any_of: optional(listOf(ANYTHING, { nonEmpty: true })),
  gt: optional(NUMBER),
  lt: optional(NUMBER),
  gte: optional(NUMBER),
  lte: optional(NUMBER),
};

/** The names of the operators a short pattern may carry. */
export const SHORT_OPERATOR_NAMES: ReadonlySet<string> = new Set(Object.keys(SHORT_OPERATORS));

const operators = closedObject({ ...SHORT_OPERATORS, exists: optional(BOOLEAN) });

/** A condition: operators of the right types, or any value to be equal to. */
const CONDITION: Shape = (value, path, report) => {
  if (isOperatorObject(value)) operators(value, path, report);
};

/** Paths to conditions. */
export const PREDICATE: Shape = mapOf(CONDITION);

const fields = closedObject({
  target: optional(TEXT),
  condition: optional(CONDITION),
  ...SHORT_OPERATORS,
});

/** A pattern: `condition` with an optional `target`, or exactly one operator and nothing else. */
export const PATTERN: Shape = (value, path, report) => {
  fields(value, path, report);
  if (!isJsonObject(value)) return;
  const short = shortOperators(value);
  const long = Object.hasOwn(value, "condition");
  if (short.length > 1) report("takes one operator; put several under condition", path);
  else if (short.length === 1 && long) report("has both condition and a short operator", path);
  else if (short.length === 1 && Object.hasOwn(value, "target")) {
    report("a short pattern has no target; use condition", path);
  } else if (short.length === 0 && !long) report("needs a condition", path);
};

/** The short operators an object holds. */
export function shortOperators(value: JsonValue): string[] {
  return isJsonObject(value)
    ? Object.keys(value).filter((key) => SHORT_OPERATOR_NAMES.has(key))
    : [];
}
