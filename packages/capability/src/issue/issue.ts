import { encodeBase64Url } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import { MAX_TOKEN_LENGTH } from "../model/limits.js";
import { isName, malformed } from "../reading/read.js";
import { canonicalScopes } from "../scope/grammar.js";
import type { CapabilityClaims } from "../token/claims.js";
import { claimsToJson, readClaims } from "../token/claims.js";
import type { PublicKeyInput } from "../trust/public-key.js";
import { keyName, readPublicKey, toJwk } from "../trust/public-key.js";
import { signCompact } from "./sign-compact.js";

/** The grant of a new token. Times in seconds. */
export type CapabilityGrant = {
  readonly agent: string;
  /** Absent: every session of the agent. */
  readonly sessionId?: string;
  /** The only principal it is valid for. Absent: any principal of the session. */
  readonly principal?: string;
  readonly scopes: readonly string[];
  readonly notBefore: number;
  readonly expiresAt: number;
  readonly maxEvents?: number;
  /** Creates a token that only its holder can use, after narrowing it. */
  readonly holder?: PublicKeyInput;
  /** Default: random. */
  readonly id?: string;
};

/** A new token and its claims. */
export type IssuedCapability = { readonly token: string; readonly claims: CapabilityClaims };

/** Issues tokens with one key. */
export type CapabilityIssuer = {
  /** The name in `iss`. */
  readonly issuer: string;
  /**
   * Issues a token.
   *
   * @throws CountersignError `ERR_CAPABILITY_MALFORMED` on a grant that a token cannot express
   */
  issue(grant: CapabilityGrant): Promise<IssuedCapability>;
};

/** Creates an issuer; the default name is `ed25519:<hex>` of its key. */
export function createCapabilityIssuer(options: {
  readonly key: Ed25519Key;
  readonly issuer?: string;
}): CapabilityIssuer {
  const { key, issuer = keyName(key.publicKey) } = options;
  if (!isName(issuer)) throw new TypeError("an issuer needs a name without control characters");
  return {
    issuer,
    async issue(grant) {
      // The claims are parsed again, so that no token is issued that a verifier would reject.
      const claims = readClaims(
        claimsToJson({
          jti: grant.id ?? `cap_${randomSegment(16)}`,
          iss: issuer,
          sub: grant.agent,
          ...(grant.sessionId === undefined ? {} : { sid: grant.sessionId }),
          ...(grant.principal === undefined ? {} : { principal: grant.principal }),
          scope: canonicalScopes(grant.scopes),
          nbf: grant.notBefore,
          exp: grant.expiresAt,
          ...(grant.maxEvents === undefined ? {} : { max_events: grant.maxEvents }),
          ...(grant.holder === undefined
            ? {}
            : { cnf: { jwk: toJwk(readPublicKey(grant.holder)) } }),
        }),
      );
      if (claims.jti.includes("/")) throw malformed("claims.jti");
      const token = await signCompact(key, claims);
      if (token.length > MAX_TOKEN_LENGTH) throw malformed("length");
      return { token, claims };
    },
  };
}

/** A random segment of an id. */
export function randomSegment(bytes: number): string {
  return encodeBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
