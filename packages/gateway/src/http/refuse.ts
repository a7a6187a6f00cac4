import { isCountersignError } from "@countersign/core";
import type { HttpResponse } from "./exchange.js";
import { sendProblem, problemOf } from "./problem.js";
import type { GatewayContext } from "../runs/gateway-context.js";
import type { AccessControl } from "./access-control.js";
import type { AddressedRequest } from "./address.js";
import { noteRefusal } from "../runs/run-watch.js";
import type { RefusalFacts } from "../runs/run-watch.js";
import { openConnection } from "../runs/connection.js";
import type { ConnectionFacts } from "../runs/connection.js";
import type { Problem } from "./problem.js";

const REALM = 'Bearer realm="countersign"';

/** Responds with a problem, unless the stream has already begun, and logs it for the operator. */
export function refuse(
  context: GatewayContext,
  response: HttpResponse,
  error: unknown,
  client: RefusalFacts,
): void {
  noteRefusal(context, error, client);
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

/** A page of an origin that is not listed. */
export const FOREIGN_PAGE: Problem = {
  status: 403,
  code: "ORIGIN_NOT_ALLOWED",
  title: "This origin is not allowed; list it under origins",
};

/** An address with as many open connections as one may have; its new connection is closed without a response. */
export const TOO_MANY_CONNECTIONS: Problem = {
  status: 429,
  code: "ERR_ACCESS_ADDRESS",
  title: "Too many open connections from one address",
};

/** An unknown agent name. */
export const UNKNOWN_AGENT: Problem = {
  status: 404,
  code: "AGENT_UNKNOWN",
  title: "No agent with this name is configured",
};

/** Characters of a rejected origin or path in the log: enough to find it and add it to the list. */
const MAX_LOGGED_TEXT = 200;

/**
 * Counts and logs a request that is rejected before its body is read; a browser tells its page only that the request
 * failed.
 */
export function reportRejectedRequest(
  { telemetry, journal }: GatewayContext,
  { code }: Problem,
  client: RefusalFacts,
  origin?: string,
): void {
  telemetry.refusals.add(code);
  const facts = origin === undefined ? {} : { origin: origin.slice(0, MAX_LOGGED_TEXT) };
  journal.warn({ code, ...client, ...facts }, "refused");
}

/** A client that has not authenticated, with the path that it asked for. The query may contain a ticket. */
export function strangerOf(
  { identities }: GatewayContext,
  accessControl: AccessControl,
  request: AddressedRequest,
  url: URL,
): RefusalFacts {
  return {
    ...identities.of(undefined, accessControl.clientAddress(request)),
    path: url.pathname.slice(0, MAX_LOGGED_TEXT),
  };
}
