import type { JsonObject, JsonValue } from "@countersign/core";
import { MAX_NARROWINGS, MAX_SCOPES } from "../model/limits.js";
import {
  malformed,
  own,
  readClosed,
  readInteger,
  readList,
  readName,
  readPrincipal,
} from "../reading/read.js";
import { parseScope } from "../scope/grammar.js";
import type { Ed25519Jwk } from "../trust/public-key.js";
import { readPublicKey } from "../trust/public-key.js";

/** The claims of one link; the names are those of the wire (RFC 7519, RFC 7800). */
export type CapabilityClaims = {
  /** The id; for a narrowing its parent's id, `/` and its own segment. */
  readonly jti: string;
  /** The signer: an issuer's name, or `ed25519:<hex>` of the holder for a narrowing. */
  readonly iss: string;
  /** The agent. */
  readonly sub: string;
  /** The session; absent for every session of the agent. */
  readonly sid?: string;
  /** The principal; absent for any principal of the session. */
  readonly principal?: string;
  readonly scope: readonly string[];
  /** Seconds; valid from here on … */
  readonly nbf: number;
  /** … and until just before here. */
  readonly exp: number;
  readonly max_events?: number;
  /**
   * The holder: only this key may narrow the token, and without its narrowing the token allows
   * nothing.
   */
  readonly cnf?: { readonly jwk: Ed25519Jwk };
  /** Base64url SHA-256 of the token this link narrows. */
  readonly parent?: string;
};

const REQUIRED = ["jti", "iss", "sub", "scope", "nbf", "exp"];
const OPTIONAL = ["sid", "principal", "max_events", "cnf", "parent"];

const SEGMENT = "[A-Za-z0-9_.-]{1,64}";
const ID = new RegExp(`^${SEGMENT}(?:/${SEGMENT}){0,${MAX_NARROWINGS}}$`);
const DIGEST = /^[A-Za-z0-9_-]{43}$/;

/** Whether a string can be a token's id. */
export function isCapabilityId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/**
 * Parses claims as a closed object: an unknown claim could be a restriction that is not enforced.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED`
 */
export function readClaims(value: JsonValue): CapabilityClaims {
  const object = readClosed("claims", value, REQUIRED, OPTIONAL);
  const jti = own(object, "jti");
  if (!isCapabilityId(jti)) throw malformed("claims.jti");
  const nbf = readInteger("claims.nbf", own(object, "nbf"), 0);
  const exp = readInteger("claims.exp", own(object, "exp"), nbf + 1);
  const sid = own(object, "sid");
  const principal = own(object, "principal");
  const maxEvents = own(object, "max_events");
  const cnf = own(object, "cnf");
  const parent = own(object, "parent");
  if (parent !== undefined && (typeof parent !== "string" || !DIGEST.test(parent))) {
    throw malformed("claims.parent");
  }
  return {
    jti,
    iss: readName("claims.iss", own(object, "iss")),
    sub: readName("claims.sub", own(object, "sub")),
    ...(sid === undefined ? {} : { sid: readName("claims.sid", sid) }),
    ...(principal === undefined ? {} : { principal: readPrincipal("claims.principal", principal) }),
    scope: readScopes(own(object, "scope")),
    nbf,
    exp,
    ...(maxEvents === undefined
      ? {}
      : { max_events: readInteger("claims.max_events", maxEvents, 1) }),
    ...(cnf === undefined ? {} : { cnf: readConfirmation(cnf) }),
    ...(parent === undefined ? {} : { parent }),
  };
}

/** Claims as a plain JSON object, for signing and for conditions. */
export function claimsToJson(claims: CapabilityClaims): JsonObject {
  const { scope, cnf, ...rest } = claims;
  return {
    ...rest,
    scope: [...scope],
    ...(cnf === undefined ? {} : { cnf: { jwk: { ...cnf.jwk } } }),
  };
}

/** The holder's key of a token. */
export function holderKey(claims: CapabilityClaims): Uint8Array | undefined {
  return claims.cnf === undefined ? undefined : readPublicKey({ ...claims.cnf.jwk });
}

function readScopes(value: JsonValue | undefined): readonly string[] {
  const scopes = readList("claims.scope", value, MAX_SCOPES);
  for (const scope of scopes) {
    if (typeof scope !== "string") throw malformed("claims.scope");
    parseScope(scope);
  }
  if (new Set(scopes).size !== scopes.length) throw malformed("claims.scope");
  return Object.freeze([...(scopes as string[])]);
}

function readConfirmation(value: JsonValue): { jwk: Ed25519Jwk } {
  const cnf = readClosed("claims.cnf", value, ["jwk"]);
  const { x } = readClosed("claims.cnf.jwk", own(cnf, "jwk"), ["kty", "crv", "x"]);
  const jwk = own(cnf, "jwk") as JsonObject;
  try {
    readPublicKey(jwk);
  } catch {
    throw malformed("claims.cnf.jwk");
  }
  return { jwk: { kty: "OKP", crv: "Ed25519", x: x as string } };
}
