import type { JsonValue } from "@countersign/core";
import { decodeBase64Url, isCountersignError, parseJson } from "@countersign/core";
import { malformed, readClosed } from "../reading/read.js";
import type { CapabilityClaims } from "./claims.js";
import { readClaims } from "./claims.js";

/** The `typ` of our tokens: a JWS for another purpose is never accepted (RFC 8725 §3.11). */
export const TOKEN_TYPE = "countersign-cap+jwt";

/** One parsed compact JWS, not verified. */
export type CompactToken = {
  readonly keyId: string;
  readonly claims: CapabilityClaims;
  readonly signingInput: Uint8Array;
  readonly signature: Uint8Array;
};

// 64 bytes are 86 characters, so the length is checked before decoding.
const COMPACT = /^([A-Za-z0-9_-]{1,512})\.([A-Za-z0-9_-]{1,16384})\.([A-Za-z0-9_-]{86})$/;
const KEY_ID = /^[A-Za-z0-9_-]{43}$/;

/**
 * Parses a compact JWS strictly: canonical base64url, JSON without duplicate keys, and a header of
 * exactly `alg`, `kid` and `typ`. So no header can choose another algorithm, supply its own key
 * (`jwk`, `jku`, `x5c`) or require extensions (`crit`).
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED`
 */
export function readCompact(text: string): CompactToken {
  const [, header = "", payload = "", signature = ""] = COMPACT.exec(text) ?? [];
  if (signature === "") throw malformed("compact serialization");
  const { alg, kid, typ } = readClosed("header", readPart("header", header), ["alg", "kid", "typ"]);
  if (alg !== "EdDSA" || typ !== TOKEN_TYPE) throw malformed("header");
  if (typeof kid !== "string" || !KEY_ID.test(kid)) throw malformed("header.kid");
  return {
    keyId: kid,
    claims: readClaims(readPart("claims", payload)),
    signingInput: new TextEncoder().encode(`${header}.${payload}`),
    signature: bytesOf("signature", signature),
  };
}

function readPart(what: string, text: string): JsonValue {
  const bytes = bytesOf(what, text);
  try {
    return parseJson(bytes, { maxDepth: 8 });
  } catch (error) {
    if (isCountersignError(error)) throw malformed(what);
    throw error;
  }
}

function bytesOf(what: string, text: string): Uint8Array {
  try {
    return decodeBase64Url(text);
  } catch {
    throw malformed(what);
  }
}
