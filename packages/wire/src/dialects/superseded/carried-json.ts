import { isCountersignError, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** JSON that a producer put into a string; undefined when it is not strict JSON. */
export function parseCarriedJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text);
  } catch (error) {
    if (isCountersignError(error)) return undefined;
    throw error;
  }
}
