import type { Problem } from "./problem.js";
import type { GatewayContext } from "../runs/gateway-context.js";

/** A page that is not listed. */
export const FOREIGN_PAGE: Problem = {
  status: 403,
  code: "ORIGIN_NOT_ALLOWED",
  title: "Pages of this origin may not call the gateway; list it under origins",
};

/** A name that no agent has. */
export const UNKNOWN_AGENT: Problem = {
  status: 404,
  code: "AGENT_UNKNOWN",
  title: "No agent of that name is configured",
};

/** Characters of a refused origin that the log shows: enough to find it in a list that it is missing from. */
const TOLD_ORIGIN = 200;

/** Counts and logs who is turned away before anything of them is read; a browser shows its page no more than that it failed. */
export function noteRejectedRequest(
  { telemetry, journal }: GatewayContext,
  { code }: Problem,
  origin?: string,
): void {
  telemetry.refusals.add(code);
  const facts = origin === undefined ? {} : { origin: origin.slice(0, TOLD_ORIGIN) };
  journal.warn({ code, ...facts }, "refused");
}
