import { isCountersignError } from "@countersign/core";
import type { HttpResponse } from "./exchange.js";
import { sendProblem } from "./problem.js";
import { problemOf } from "./refusal.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import { noteRefusal } from "../runs/run-watch.js";
import { openConnection } from "../runs/connection.js";
import type { ConnectionFacts } from "../runs/connection.js";

const REALM = 'Bearer realm="countersign"';

/** Responds with a problem, unless the stream has already begun, and logs it for the operator. */
export function refuse(context: GatewayContext, response: HttpResponse, error: unknown): void {
  noteRefusal(context, error);
  if (response.headersSent) response.end();
  else sendProblem(response, problemOf(error), challengeOf(error));
}

/** The `WWW-Authenticate` challenge (RFC 6750 §3); it repeats nothing of the client's credential. */
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

/** Signs a refusal of a request that could not be parsed; it creates no session. */
export async function recordUnreadRequest(
  context: GatewayContext,
  facts: ConnectionFacts,
  error: unknown,
): Promise<void> {
  await context.refusals.record(openConnection(context, facts).inbound("input", ""), error);
  context.sessions.forgetEmpty(facts.sessionId);
}
