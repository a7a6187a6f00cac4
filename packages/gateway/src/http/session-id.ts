import { CountersignError } from "@countersign/core";
import { SESSION_HEADER } from "../agent/session-header.js";
import "../base/errors.js";
import type { HttpRequest } from "./exchange.js";

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
