import type { JsonValue } from "@countersign/core";
import { SHORT_OPERATOR_NAMES } from "../parse/condition-shape.js";
import type { Pattern } from "./document.js";

/** The condition of a pattern in either form; `undefined` when it has none. */
export function conditionOf(pattern: Pattern): JsonValue | undefined {
  if (Object.hasOwn(pattern, "condition")) return pattern.condition;
  for (const [key, operand] of Object.entries(pattern)) {
    if (SHORT_OPERATOR_NAMES.has(key) && operand !== undefined) return { [key]: operand };
  }
  return undefined;
}
