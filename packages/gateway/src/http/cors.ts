import type { HttpResponse, HttpRequest } from "./exchange.js";
import { SESSION_HEADER } from "../agent/upstream.js";
import { routeRequest } from "./path.js";
import { RECEIPTS_HEADER } from "./receipt-request.js";

const ALLOWED_HEADERS = [
  "accept",
  "authorization",
  "content-type",
  "countersign-dialect",
  RECEIPTS_HEADER,
  "last-event-id",
  "traceparent",
  SESSION_HEADER,
].join(", ");

/** Headers that a page may read: its session, and the details of a refusal. */
const EXPOSED_HEADERS = [SESSION_HEADER, "www-authenticate", "retry-after"].join(", ");
const MAX_AGE_SECONDS = "600";

/**
 * Allows pages of the listed origins to read responses.
 *
 * Cookies and other credentials that a browser adds by itself are never allowed: a client authenticates with a token,
 * which a foreign page does not have. That is why `*` may be listed.
 */
export function allowOrigin(
  request: HttpRequest,
  response: HttpResponse,
  origins: ReadonlySet<string>,
): void {
  const { origin } = request.headers;
  response.setHeader("vary", "origin");
  if (origin === undefined) return;
  const isListed = origins.has(origin);
  if (!isListed && !origins.has("*")) return;
  response.setHeader("access-control-allow-origin", isListed ? origin : "*");
  response.setHeader("access-control-expose-headers", EXPOSED_HEADERS);
}

/** Responds to a CORS preflight request; it carries no credential and needs none. */
export function respondToPreflight(
  request: HttpRequest,
  response: HttpResponse,
  path: string,
): void {
  const asked = request.headers["access-control-request-method"];
  const route = routeRequest(typeof asked === "string" ? asked : "POST", path);
  response.setHeader(
    "vary",
    "origin, access-control-request-method, access-control-request-headers",
  );
  if (route.kind === "unknown" || route.kind === "method") {
    response.writeHead(route.kind === "unknown" ? 404 : 405).end();
    return;
  }
  if (response.hasHeader("access-control-allow-origin")) {
    const methods = route.kind === "runtime" ? "GET, POST, PATCH, DELETE" : "GET, POST";
    response.setHeader("access-control-allow-methods", methods);
    response.setHeader("access-control-allow-headers", ALLOWED_HEADERS);
    response.setHeader("access-control-max-age", MAX_AGE_SECONDS);
  }
  response.writeHead(204).end();
}
