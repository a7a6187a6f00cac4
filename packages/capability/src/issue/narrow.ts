import { CountersignError, equalBytes } from "@countersign/core";
import type { Ed25519Key } from "@countersign/core/sign";
import "../model/errors.js";
import { MAX_NARROWINGS } from "../model/limits.js";
import { malformed } from "../reading/read.js";
import { canonicalScopes } from "../scope/grammar.js";
import { appendLink, parentDigest, readChain } from "../token/chain.js";
import type { CapabilityClaims } from "../token/claims.js";
import { claimsToJson, holderKey, readClaims } from "../token/claims.js";
import { widenedField } from "../token/narrowing.js";
import type { PublicKeyInput } from "../trust/public-key.js";
import { keyName, readPublicKey, toJwk } from "../trust/public-key.js";
import type { IssuedCapability } from "./issue.js";
import { randomSegment } from "./issue.js";
import { signCompact } from "./sign-compact.js";

/** The restrictions to add; omitted members keep the parent's value. */
export type Narrowing = {
  readonly scopes?: readonly string[];
  readonly sessionId?: string;
  /** The only principal it is valid for; a parent that names one keeps it. */
  readonly principal?: string;
  readonly notBefore?: number;
  readonly expiresAt?: number;
  readonly maxEvents?: number;
  /**
   * The key that may narrow the result further, and must before use. Absent: the result is used
   * directly.
   */
  readonly holder?: PublicKeyInput;
  /** The last segment of the new id; default: random. */
  readonly id?: string;
};

/**
 * Creates a narrower token from one that names this key as its holder, offline. The parent's
 * signatures are not checked here: the verifier of the result checks all of them.
 *
 * @throws CountersignError `ERR_CAPABILITY_NOT_HOLDER`, `ERR_CAPABILITY_WIDENS`, `ERR_CAPABILITY_MALFORMED`
 */
export async function narrowCapability(
  parent: string,
  key: Ed25519Key,
  narrowing: Narrowing = {},
): Promise<IssuedCapability> {
  const links = readChain(parent);
  if (links.length > MAX_NARROWINGS) throw malformed("number of narrowings");
  const { claims: above } = links.at(-1) ?? links[0];
  const holder = holderKey(above);
  if (holder === undefined || !equalBytes(holder, key.publicKey)) {
    throw new CountersignError(
      "ERR_CAPABILITY_NOT_HOLDER",
      "the token does not name this key as its holder",
      { id: above.jti },
    );
  }
  const claims = readClaims(claimsToJson(narrowed(above, narrowing, key, parent)));
  const field = widenedField(above, claims);
  if (field !== undefined) {
    throw new CountersignError("ERR_CAPABILITY_WIDENS", `narrowing widens ${field}`, { field });
  }
  return { token: appendLink(parent, await signCompact(key, claims)), claims };
}

function narrowed(
  above: CapabilityClaims,
  { scopes, sessionId, principal, notBefore, expiresAt, maxEvents, holder, id }: Narrowing,
  key: Ed25519Key,
  parent: string,
): CapabilityClaims {
  const sid = sessionId ?? above.sid;
  const named = principal ?? above.principal;
  const most = maxEvents ?? above.max_events;
  return {
    jti: `${above.jti}/${id ?? randomSegment(6)}`,
    iss: keyName(key.publicKey),
    sub: above.sub,
    ...(sid === undefined ? {} : { sid }),
    ...(named === undefined ? {} : { principal: named }),
    scope: canonicalScopes(scopes ?? above.scope),
    nbf: notBefore ?? above.nbf,
    exp: expiresAt ?? above.exp,
    ...(most === undefined ? {} : { max_events: most }),
    ...(holder === undefined ? {} : { cnf: { jwk: toJwk(readPublicKey(holder)) } }),
    parent: parentDigest(parent),
  };
}
