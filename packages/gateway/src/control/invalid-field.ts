import { CountersignError } from "@countersign/core";
import "../base/errors.js";

/** Characters of an unknown name that are returned to the client. */
const MAX_NAME = 64;

/** The error for an invalid field or parameter. */
export function invalidField(name: string, expected: string): CountersignError {
  const field = name.slice(0, MAX_NAME);
  return new CountersignError("ERR_CONTROL_FIELD", `${field} must be ${expected}`, {
    field,
    expected,
  });
}
