import {
  canonicalJson,
  CountersignError,
  decodeBase64Url,
  isCountersignError,
  parseJson,
  sha256Hex,
} from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { errors, jwtVerify } from "jose";
import type { JWTPayload } from "jose";
import type { Clock } from "../base/ports.js";
import { tokenError } from "./access.js";
import type { Authenticator, Grant, GrantName } from "./access.js";
import type { TokenFault } from "../base/errors.js";
import { thumbprintOf } from "./key-set.js";
import type { KeySet } from "./key-set.js";

/** Algorithms with which only the issuer can sign. Shared secrets are never accepted. */
export const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** One trusted issuer and the claims that its tokens must have. */
export type JwtOptions = {
  readonly issuer: string;
  /** Accepted values of `aud`; when empty, only `clientIds` is checked. */
  readonly audience: readonly string[];
  /** Accepted values of `client_id`; not checked when empty. Some issuers (Amazon Cognito) write no `aud`. */
  readonly clientIds?: readonly string[];
  readonly algorithms: readonly string[];
  readonly toleranceMs: number;
  /** The claim that names the principal. */
  readonly principalClaim: string;
  /** Scopes that a token must have, all of them. */
  readonly scopes: readonly string[];
  readonly keys: Pick<KeySet, "keyOf" | "hasKey">;
  readonly clock: Clock;
};

const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
// A control character in a name could corrupt a log line.
const SUBJECT = /^[^\p{Cc}\p{Cs}]{1,256}$/u;

/** Authenticates clients by the tokens of one issuer. */
export function createJwtAuthenticator(options: JwtOptions): Authenticator {
  const { audience, clientIds = [] } = options;
  // Otherwise a token that the issuer made for any other application would be accepted here.
  if (audience.length + clientIds.length === 0) {
    throw new TypeError("tokens need an audience or client ids");
  }
  const way = wayOf(options);
  const { clock, keys } = options;
  const grantOf = (name: GrantName & { readonly expiresAt: number }): Grant => ({
    principal: { id: name.principal, expiresAt: name.expiresAt },
    name,
    // A ticket of an older gateway names no key.
    isValid: () =>
      clock.now() < name.expiresAt && (name.key === undefined || keys.hasKey(name.key)),
  });
  return {
    restore: ({ way: other, expiresAt, ...name }) =>
      other === way && expiresAt !== undefined ? grantOf({ way, expiresAt, ...name }) : undefined,
    authenticate: async (token) => {
      if (!JWT.test(token) || claimedIssuer(token) !== options.issuer) return undefined;
      try {
        const { payload, key } = await jwtVerify(token, keys.keyOf, {
          issuer: options.issuer,
          ...(audience.length === 0 ? {} : { audience: [...audience] }),
          algorithms: [...options.algorithms],
          clockTolerance: options.toleranceMs / 1000,
          currentDate: new Date(options.clock.now()),
          requiredClaims: ["exp", options.principalClaim],
        });
        return grantOf({ way, ...holderOf(payload, options), key: await thumbprintOf(key) });
      } catch (error) {
        if (isCountersignError(error)) throw error;
        throw tokenError(faultOf(error));
      }
    },
  };
}

/** A digest of all requirements: a grant is not restored after any of them has changed. */
function wayOf(options: JwtOptions): string {
  const { issuer, audience, clientIds = [], algorithms, principalClaim, scopes } = options;
  const asked = { issuer, audience, clientIds, algorithms, principalClaim, scopes };
  return `jwt ${sha256Hex(canonicalJson(asked as unknown as JsonValue))}`;
}

function holderOf(
  payload: JWTPayload,
  options: JwtOptions,
): { principal: string; expiresAt: number } {
  const { clientIds = [] } = options;
  const clientId = payload["client_id"];
  if (clientIds.length > 0 && !(typeof clientId === "string" && clientIds.includes(clientId))) {
    throw tokenError("client");
  }
  const subject = payload[options.principalClaim];
  if (typeof subject !== "string" || !SUBJECT.test(subject)) throw tokenError("claim");
  const held = scopesOf(payload);
  if (!options.scopes.every((scope) => held.has(scope))) {
    throw new CountersignError("ERR_ACCESS_SCOPE", "the token does not have a required scope", {
      scopes: options.scopes,
    });
  }
  const expiresAt = (payload.exp as number) * 1000 + options.toleranceMs;
  // An issuer contains no space, so the first space ends it and two issuers never share an id.
  return { principal: `jwt:${options.issuer} ${subject}`, expiresAt };
}

/** `scope` is a space-separated string (RFC 8693 §4.2); some issuers write `scp`, as a string or a list. */
function scopesOf(payload: JWTPayload): ReadonlySet<string> {
  const claims = [payload["scope"], payload["scp"]];
  const names = claims.flatMap((claim) => {
    if (typeof claim === "string") return claim.split(" ");
    return Array.isArray(claim) ? claim.filter((name) => typeof name === "string") : [];
  });
  return new Set(names);
}

/**
 * Parses header and claims strictly before any library does: with duplicate keys two parsers could see two tokens. Only
 * the issuer is used, to select its keys.
 */
function claimedIssuer(token: string): JsonValue | undefined {
  const [header = "", payload = "", signature = ""] = token.split(".");
  let claims: JsonValue;
  try {
    parseJson(decodeBase64Url(header), { maxDepth: 8 });
    // Accepts one encoding only: a lenient parser would accept several texts for one signature.
    decodeBase64Url(signature);
    claims = parseJson(decodeBase64Url(payload), { maxDepth: 16 });
  } catch {
    // The cause would contain an offset inside a secret.
    throw tokenError("malformed");
  }
  if (typeof claims !== "object" || claims === null || Array.isArray(claims)) {
    throw tokenError("malformed");
  }
  return claims["iss"];
}

const CLAIM_FAULTS: ReadonlyMap<string, TokenFault> = new Map([
  ["iss", "issuer"],
  ["aud", "audience"],
  ["nbf", "not-yet-valid"],
]);

function faultOf(error: unknown): TokenFault {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) {
    return CLAIM_FAULTS.get(error.claim) ?? "claim";
  }
  if (error instanceof errors.JOSEAlgNotAllowed) return "algorithm";
  if (error instanceof errors.JWSSignatureVerificationFailed) return "signature";
  if (error instanceof errors.JWKSNoMatchingKey) return "key";
  if (error instanceof errors.JWKSMultipleMatchingKeys) return "key";
  return "malformed";
}
