import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { parseUrl } from "@countersign/core";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Whether a page of this origin may call the gateway. A request without an origin does not come from a page's script.
 *
 * On loopback, a page from the same host is allowed as well as the configured list. Elsewhere a name that an attacker
 * points at this machine would also be the same host (DNS rebinding).
 */
export function isAllowedOrigin(
  origin: string | undefined,
  host: string | undefined,
  origins: ReadonlySet<string>,
): boolean {
  if (origin === undefined || origins.has(origin) || origins.has("*")) return true;
  const from = parseUrl(origin)?.host;
  return from !== undefined && from === host && LOOPBACK.test(from);
}

/**
 * Whether a request without an origin names this machine by its own name or address.
 *
 * A browser sends no origin with a GET to the page's own host. A page whose name now resolves to 127.0.0.1 would
 * reach the gateway that way (DNS rebinding). On other addresses, the operator controls the names.
 */
export function isOwnName(
  host: string | undefined,
  localAddress: string | undefined,
  origins: ReadonlySet<string>,
): boolean {
  const address = (localAddress ?? "").replace(/^::ffff:/i, "");
  if (host === undefined || !(address.startsWith("127.") || address === "::1")) return true;
  const name = host.replace(/:\d+$/, "").replace(/^\[|\]$/g, "");
  if (LOOPBACK.test(host) || isIP(name) !== 0) return true;
  return [...origins].some((origin) => parseUrl(origin)?.host === host);
}

/**
 * Whether a browser sends the request for an image, a frame or a link of a foreign page, without an origin. Such a
 * page cannot read the response, but a GET of a stream starts a run.
 */
export function isForeignFetch(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return headers.origin === undefined && (site === "cross-site" || site === "same-site");
}
