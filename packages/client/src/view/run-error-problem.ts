import { ownMember } from "@countersign/core";
import type { RunErrorEvent } from "@countersign/wire";
import { readDetails } from "../base/problem-details.js";
import { stringMember } from "../base/string-member.js";
import type { Problem } from "./snapshot.js";

/**
 * Why a run failed, as the other side told it. A gateway that refused a run on a socket puts the problem document
 * which a request would be answered with into the metadata, so that both ways tell the same.
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
