import type { JsonValue } from "@countersign/core";
import { stringMember } from "./string-member.js";

/** What a gateway's problem document says beyond code and words. Claims, like the message. */
export type ProblemDetails = {
  /** Which part of the request was refused: a JSON Pointer (RFC 6901) into the `RunAgentInput`. */
  readonly pointer?: string;
  /** What helps, for whoever operates or develops the application; often a line for the policy. */
  readonly remedy?: string;
  /** The receipt of the gateway's decision: ask its log. */
  readonly receipt?: string;
};

const NAMES = ["pointer", "remedy", "receipt"] as const;

/** The details in a problem document, as far as they are texts. */
export function readDetails(document: JsonValue | undefined): ProblemDetails {
  const details: { -readonly [Name in keyof ProblemDetails]: ProblemDetails[Name] } = {};
  for (const name of NAMES) {
    const value = stringMember(document, name);
    if (value !== undefined) details[name] = value;
  }
  return details;
}

/** What a server says about its refusal in a problem document (RFC 9457), in its own words. */
export type Refusal = ProblemDetails & {
  readonly code: string;
  /** The document's `detail`, or else its `title`. */
  readonly message: string;
};
