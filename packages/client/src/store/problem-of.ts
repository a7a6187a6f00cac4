import { isCountersignError } from "@countersign/core";
import type { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { Problem } from "../view/snapshot.js";

/**
 * Converts an error into the problem to display. A server's own refusal wins, on HTTP and on a
 * socket.
 */
export function problemOf(error: CountersignError): Problem {
  const { code, message } = error;
  if (!isCountersignError(error, "ERR_CLIENT_CONNECT")) return { code, message, source: "client" };
  const { status, refusal } = error.facts;
  return {
    ...(refusal === undefined
      ? { code, message, source: "client" }
      : { ...refusal, source: "agent" }),
    ...(status === undefined ? {} : { status }),
  };
}
