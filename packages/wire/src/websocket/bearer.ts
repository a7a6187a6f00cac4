import { CountersignError, decodeBase64Url, decodeUtf8, encodeBase64Url } from "@countersign/core";

declare module "@countersign/core" {
  interface ErrorFacts {
    /** The offered sub-protocols carry a bearer token in a way that cannot be honoured. */
    ERR_WEBSOCKET_BEARER: { reason: "encoding" | "repeated" | "marker-missing" };
    /** A second input arrived while the run of the first is still going. */
    ERR_WEBSOCKET_RUN_ACTIVE: { exchange: number };
    /** The server sent an event although no input was sent yet. */
    ERR_WEBSOCKET_NO_INPUT: Record<never, never>;
  }
}

/** The sub-protocol name that AgentCore clients offer; the server selects this one, never the token. */
export const BEARER_SUBPROTOCOL = "base64UrlBearerAuthorization";

const PREFIX = `${BEARER_SUBPROTOCOL}.`;

// RFC 6750 §2.1, b64token.
const BEARER_TOKEN = /^[A-Za-z0-9._~+/-]+=*$/;

/** A bearer token that came in the offered sub-protocols. */
export interface BearerSubprotocol {
  /** The token itself. Never log it, nor the offered list. */
  readonly token: string;
  /** The name that the server returns in `Sec-WebSocket-Protocol`. */
  readonly select: typeof BEARER_SUBPROTOCOL;
}

/**
 * Reads the bearer token among the sub-protocols that a client offers; `undefined` without one.
 *
 * Browsers cannot set headers on a WebSocket, so AgentCore clients put the token there (base64url,
 * without padding because `=` may not stand in a sub-protocol name).
 *
 * @param offered the `Sec-WebSocket-Protocol` header, one or several, or the names already split
 * @throws CountersignError `ERR_WEBSOCKET_BEARER` on two tokens, or on a token that is not strict base64url.
 *   Also when the client does not offer the plain name: selecting the name with the token would echo
 *   the token.
 */
export function parseBearerSubprotocol(
  offered: string | readonly string[],
): BearerSubprotocol | undefined {
  const list = typeof offered === "string" ? [offered] : offered;
  const names = list.flatMap((entry) => entry.split(",")).map((name) => name.trim());
  const carriers = names.filter((name) => name.startsWith(PREFIX));
  const [carrier] = carriers;
  if (carrier === undefined) return undefined;
  if (carriers.length > 1) throw bearerError("repeated");
  if (!names.includes(BEARER_SUBPROTOCOL)) throw bearerError("marker-missing");
  return { token: decodeToken(carrier.slice(PREFIX.length)), select: BEARER_SUBPROTOCOL };
}

/**
 * The sub-protocols to offer so that a bearer token reaches the server.
 *
 * @throws TypeError when the token is not a bearer token (RFC 6750); the message does not repeat it
 */
export function buildBearerSubprotocols(token: string): [string, typeof BEARER_SUBPROTOCOL] {
  if (!BEARER_TOKEN.test(token)) throw new TypeError("not a bearer token (RFC 6750)");
  return [PREFIX + encodeBase64Url(new TextEncoder().encode(token)), BEARER_SUBPROTOCOL];
}

function decodeToken(encoded: string): string {
  let token: string | undefined;
  try {
    token = decodeUtf8(decodeBase64Url(encoded));
  } catch {
    // The cause would name a place inside a secret.
  }
  if (token === undefined || !BEARER_TOKEN.test(token)) throw bearerError("encoding");
  return token;
}

function bearerError(reason: "encoding" | "repeated" | "marker-missing"): CountersignError {
  return new CountersignError("ERR_WEBSOCKET_BEARER", `unusable bearer sub-protocol: ${reason}`, {
    reason,
  });
}
