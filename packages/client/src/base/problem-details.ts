import { ownMember } from "@countersign/core";
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
  /** Ids of the interrupts that are open on the thread and that the request did not answer: `resume` takes them. */
  readonly interrupts?: readonly string[];
};

const NAMES = ["pointer", "remedy", "receipt"] as const;

/** Reads the details of a problem document; members of another type are ignored. */
export function readDetails(document: JsonValue | undefined): ProblemDetails {
  const details: { -readonly [Name in keyof ProblemDetails]: ProblemDetails[Name] } = {};
  for (const name of NAMES) {
    const value = stringMember(document, name);
    if (value !== undefined) details[name] = value;
  }
  const interrupts = ownMember(document, "interrupts");
  if (Array.isArray(interrupts)) {
    const ids = interrupts.filter((id) => typeof id === "string");
    if (ids.length > 0) details.interrupts = ids;
  }
  return details;
}

/** A server's refusal as a problem document (RFC 9457), in the server's words. */
export type Refusal = ProblemDetails & {
  readonly code: string;
  /** The document's `detail`, or else its `title`. */
  readonly message: string;
};
