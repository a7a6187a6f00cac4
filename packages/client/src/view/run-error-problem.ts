import { ownMember } from "@countersign/core";
import type { RunErrorEvent } from "@countersign/wire";
import { readDetails } from "../base/problem-details.js";
import { stringMember } from "../base/string-member.js";
import type { Problem } from "./snapshot.js";

/**
 * Converts a RUN_ERROR into a problem. On a socket, a gateway puts the problem document of an HTTP
 * refusal into the metadata, so both transports report the same.
 */
export function problemFromRunError({
  code = "RUN_ERROR",
  message,
  metadata,
}: RunErrorEvent): Problem {
  const document = ownMember(ownMember(metadata, "countersign"), "problem");
  const status = ownMember(document, "status");
  return {
    code,
    message: stringMember(document, "detail") ?? message,
    source: "agent",
    ...(typeof status === "number" ? { status } : {}),
    ...readDetails(document),
  };
}
