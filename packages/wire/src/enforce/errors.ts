import { CountersignError } from "@countersign/core";
import type { ErrorCode, JsonValue } from "@countersign/core";
import { kindOf } from "./kind.js";
import type { JsonKind } from "./kind.js";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The value is not an object with a non-empty string `type`. */
    ERR_ENFORCE_NOT_AN_EVENT: { found: JsonKind };
    /** A field the protocol describes holds a value it does not allow, or is missing. */
    ERR_ENFORCE_MALFORMED_VALUE: {
      /** The event type, or `RunAgentInput`. */
      subject: string;
      /** JSON pointer from the root of the subject. */
      path: string;
      expected: string;
      found: JsonKind;
    };
  }
}

/** The codes that enforcement throws. */
export type EnforceErrorCode = Extract<ErrorCode, `ERR_ENFORCE_${string}`>;

/** A described field with a value the protocol does not allow. */
export function malformed(
  subject: string,
  path: string,
  expected: string,
  value: JsonValue | undefined,
): CountersignError<"ERR_ENFORCE_MALFORMED_VALUE"> {
  const found = kindOf(value);
  const place = path === "" ? subject : `${subject} at ${path}`;
  return new CountersignError(
    "ERR_ENFORCE_MALFORMED_VALUE",
    `Malformed ${place}: expected ${expected}, found ${found}`,
    { subject, path, expected, found },
  );
}

/** A value that cannot be an event of any version. */
export function notAnEvent(
  value: JsonValue | undefined,
): CountersignError<"ERR_ENFORCE_NOT_AN_EVENT"> {
  return new CountersignError(
    "ERR_ENFORCE_NOT_AN_EVENT",
    "An event is an object with a non-empty string in `type`",
    { found: kindOf(value) },
  );
}
