import { isCountersignError } from "@countersign/core";
import type { CountersignError } from "@countersign/core";
import "../base/errors.js";
import type { Problem } from "../view/snapshot.js";

/** What a failure is shown as: a server that said why it refused is heard, as over a socket. */
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
