import { isCountersignError } from "@countersign/core";
import { parseBearerSubprotocol } from "@countersign/wire/websocket";
import { tokenError } from "../access/access.js";
import type { Upstream } from "../agent/upstream.js";
import type { HttpRequest } from "./exchange.js";
import { hasDuplicateHeader } from "./exchange.js";

// RFC 6750 §2.1; the scheme in any case (RFC 9110 §11.1).
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i;
const SCHEME = /^bearer(?: |$)/i;

/** The token of the `Authorization` header; `undefined` for another scheme. */
export function bearerOf(request: HttpRequest): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined || !SCHEME.test(authorization)) return undefined;
  const token = BEARER.exec(authorization)?.[1];
  if (token === undefined || hasDuplicateHeader(request, "authorization"))
    throw tokenError("malformed");
  return token;
}

/** The token of a WebSocket upgrade: in the sub-protocol, as browsers must send it, or in the header. */
export function socketTokenOf(request: HttpRequest): string | undefined {
  const offered = request.headers["sec-websocket-protocol"];
  try {
    const found = typeof offered === "string" ? parseBearerSubprotocol(offered) : undefined;
    return found?.token ?? bearerOf(request);
  } catch (error) {
    throw isCountersignError(error, "ERR_WEBSOCKET_BEARER") ? tokenError("malformed") : error;
  }
}

/** The `Authorization` that is forwarded to the agent: none, unless the agent is configured to receive the client's. */
export function authorizationFor(
  { target }: Upstream,
  token: string | undefined,
): string | undefined {
  return target.forwardAuthorization === true && token !== undefined
    ? `Bearer ${token}`
    : undefined;
}
