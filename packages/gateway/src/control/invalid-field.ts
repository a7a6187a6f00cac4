import { CountersignError } from "@countersign/core";
import "./errors.js";

/** Characters of a name that is told back to whoever sent it. */
const MAX_NAME = 64;

/** Of a field or parameter that is not as it must be. */
export function invalidField(name: string, expected: string): CountersignError {
  const field = name.slice(0, MAX_NAME);
  return new CountersignError("ERR_CONTROL_FIELD", `${field} must be ${expected}`, {
    field,
    expected,
  });
}
