import { isCountersignError } from "@countersign/core";
import type { HttpAnswer } from "./http-sink.js";
import { sendProblem } from "./problem.js";
import { problemOf } from "./refusal.js";
import type { Surroundings } from "../runs/gateway-context.js";
import { noteRefusal } from "../runs/run-watch.js";

const REALM = 'Bearer realm="countersign"';

/** Answers with a problem, unless the stream has already begun, and notes it for the operator. */
export function refuse(around: Surroundings, answer: HttpAnswer, error: unknown): void {
  noteRefusal(around, error);
  if (answer.headersSent) answer.end();
  else sendProblem(answer, problemOf(error), challengeOf(error));
}

/** What a client must show, as RFC 6750 §3 writes it; nothing of what it did show. */
export function challengeOf(error: unknown): Record<string, string> {
  if (isCountersignError(error, "ERR_ACCESS_MISSING")) return { "www-authenticate": REALM };
  if (isCountersignError(error, "ERR_ACCESS_TOKEN")) {
    return { "www-authenticate": `${REALM}, error="invalid_token"` };
  }
  if (isCountersignError(error, "ERR_ACCESS_SCOPE")) {
    const scope = error.facts.scopes.join(" ");
    return { "www-authenticate": `${REALM}, error="insufficient_scope", scope="${scope}"` };
  }
  return {};
}
