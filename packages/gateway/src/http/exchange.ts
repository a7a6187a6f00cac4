import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { parseUrl, CountersignError } from "@countersign/core";
import { SESSION_HEADER } from "../agent/upstream.js";
import "../base/errors.js";
import type { ClientDialect } from "../event/run.js";

/** A request over HTTP/1.1 or HTTP/2. */
export type HttpRequest = IncomingMessage | Http2ServerRequest;

/** The response to it. */
export type HttpResponse = ServerResponse | Http2ServerResponse;

const BASE = "http://gateway.invalid";
// Only the path is used: `//host` and absolute forms would otherwise be parsed as another origin.
const ORIGIN = /^https?:\/\/[^/?#]*/i;

/**
 * The URL of a request, or `undefined` if it is invalid.
 *
 * Only the normal form of a path is accepted (not `/x/../ag-ui/run`, `/ag-ui\run` or `/ag-ui/run#`): a proxy in front
 * that decides by the path may have parsed another one.
 */
export function requestUrl(raw: string | undefined): URL | undefined {
  const text = (raw ?? "/").replace(ORIGIN, "");
  if (!text.startsWith("/") || text.includes("#")) return undefined;
  const url = parseUrl(`${BASE}${text}`);
  return url?.pathname === text.split("?", 1)[0] ? url : undefined;
}

/**
 * Whether a request repeats a header that must be single.
 *
 * Node's parser keeps the first one; a proxy in front may have decided by the last.
 */
export function hasDuplicateHeader({ rawHeaders }: HttpRequest, name: string): boolean {
  let times = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const field = rawHeaders[index];
    if (field?.length === name.length && field.toLowerCase() === name) times += 1;
  }
  return times > 1;
}

const SESSION = /^[\w.:@-]{1,256}$/;

/**
 * The session id in the header or query of a request; `undefined` if there is none.
 *
 * @throws CountersignError `ERR_SESSION_NAME`: a client with an invalid id must not believe that it has the session
 * and its capabilities
 */
export function sessionOf(request: HttpRequest, url: URL): string | undefined {
  const header = request.headers[SESSION_HEADER];
  const named =
    url.searchParams.get("session") ?? (typeof header === "string" ? header : undefined);
  if (named === undefined || SESSION.test(named)) return named;
  const message = "a session has 1 to 256 letters, digits or any of . : @ _ -";
  throw new CountersignError("ERR_SESSION_NAME", message, {});
}

const DIALECTS: ReadonlySet<string> = new Set(["1.0", "0.0.59", "0.0.55", "0.1.0", "envelope"]);

/** The dialect that a client requests by header or query; `undefined` leaves detection to the input. */
export function clientDialectOf(request: HttpRequest, url: URL): ClientDialect | undefined {
  const header = request.headers["countersign-dialect"];
  const asked =
    url.searchParams.get("dialect") ?? (typeof header === "string" ? header : undefined);
  return asked !== undefined && DIALECTS.has(asked) ? (asked as ClientDialect) : undefined;
}
