import { CountersignError } from "@countersign/core";
import type { ErrorFacts } from "@countersign/core";
import "../base/errors.js";

/** The agent could not be reached or refused. */
export function connectError(
  message: string,
  facts: ErrorFacts["ERR_CLIENT_CONNECT"],
): CountersignError<"ERR_CLIENT_CONNECT"> {
  return new CountersignError("ERR_CLIENT_CONNECT", message, facts);
}
