import { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { UpstreamTarget } from "./upstream.js";

/** The error for a failed connection: the system's error code, never its message. */
export function unreachable(
  target: UpstreamTarget,
  error: NodeJS.ErrnoException,
): CountersignError {
  const reason = error.code ?? error.name;
  return new CountersignError(
    "ERR_UPSTREAM_UNREACHABLE",
    `agent ${target.name} could not be reached (${reason})`,
    { agent: target.name, reason },
    { cause: error },
  );
}
