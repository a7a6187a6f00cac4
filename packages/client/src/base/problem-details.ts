import type { JsonValue } from "@countersign/core";
import { stringMember } from "./string-member.js";

/**
 * Members of a gateway's problem document, next to code and message. They are claims, like the
 * message.
 */
export type ProblemDetails = {
  /** Which part of the request was refused: a JSON Pointer (RFC 6901) into the `RunAgentInput`. */
  readonly pointer?: string;
  /** The fix, for the operator or developer of the application; often a line for the policy. */
  readonly remedy?: string;
  /** The receipt of the gateway's decision: ask its log. */
  readonly receipt?: string;
};

const NAMES = ["pointer", "remedy", "receipt"] as const;

/** Reads the details of a problem document; other types than strings are ignored. */
export function readDetails(document: JsonValue | undefined): ProblemDetails {
  const details: { -readonly [Name in keyof ProblemDetails]: ProblemDetails[Name] } = {};
  for (const name of NAMES) {
    const value = stringMember(document, name);
    if (value !== undefined) details[name] = value;
  }
  return details;
}

/** A server's refusal as a problem document (RFC 9457), in the server's words. */
export type Refusal = ProblemDetails & {
  readonly code: string;
  /** The document's `detail`, or else its `title`. */
  readonly message: string;
};
