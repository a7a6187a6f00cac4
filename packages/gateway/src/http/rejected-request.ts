import type { Problem } from "./problem.js";
import type { GatewayContext } from "../runs/gateway-context.js";

/** A page of an origin that is not listed. */
export const FOREIGN_PAGE: Problem = {
  status: 403,
  code: "ORIGIN_NOT_ALLOWED",
  title: "This origin is not allowed; list it under origins",
};

/** An unknown agent name. */
export const UNKNOWN_AGENT: Problem = {
  status: 404,
  code: "AGENT_UNKNOWN",
  title: "No agent with this name is configured",
};

/** Characters of a rejected origin in the log: enough to find it and add it to the list. */
const MAX_LOGGED_ORIGIN = 200;

/**
 * Counts and logs a request that is rejected before its body is read; a browser tells its page only that the request
 * failed.
 */
export function reportRejectedRequest(
  { telemetry, journal }: GatewayContext,
  { code }: Problem,
  origin?: string,
): void {
  telemetry.refusals.add(code);
  const facts = origin === undefined ? {} : { origin: origin.slice(0, MAX_LOGGED_ORIGIN) };
  journal.warn({ code, ...facts }, "refused");
}
