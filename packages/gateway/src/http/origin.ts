import type { IncomingHttpHeaders } from "node:http";
import { isIP } from "node:net";
import { parseUrl } from "@countersign/core";

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i;

/**
 * Whether a page of this origin may speak to us. No origin means no browser.
 *
 * Beside the configured list, a page from the very host it calls is fine on loopback only: elsewhere a
 * name that an attacker points at this machine would be its own host too (DNS rebinding).
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
 * Whether a request without an origin names this machine as itself, and not by a name somebody pointed at it.
 *
 * A browser sends no origin with a GET to the page's own host, and to a page of a name that now leads to
 * 127.0.0.1 that is us (DNS rebinding). Beyond loopback, names are the operator's affair.
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
 * Whether a browser asks on behalf of a foreign page that it does not name: for an image, a frame or a link it sends no
 * origin. Such a page cannot read the answer, but to ask for a stream is to start a run.
 */
export function isForeignFetch(headers: IncomingHttpHeaders): boolean {
  const site = headers["sec-fetch-site"];
  return headers.origin === undefined && (site === "cross-site" || site === "same-site");
}
