import type { JsonObject, JsonValue } from "@countersign/core";
import { isCountersignError } from "@countersign/core";
import { grantFault, grantScope, uiGrants } from "./chio/grants.js";
import { readLossless } from "./chio/lossless.js";
import { readChioToken } from "./chio/read-model.js";
import { malformed } from "./reading/read.js";
import { readChain } from "./token/chain.js";
import { claimsToJson } from "./token/claims.js";
import { tokenKey } from "./verifier/key.js";

/** The claims of a token. Nothing is verified. */
export type CapabilityDescription = {
  readonly format: "countersign" | "chio";
  readonly id: string;
  readonly issuer: string;
  /** The agent; for Chio the subject's key. */
  readonly subject: string;
  readonly sessionId?: string;
  /** The only principal it is valid for; absent when it names none. */
  readonly principal?: string;
  readonly scopes: readonly string[];
  /** Seconds. */
  readonly notBefore: number;
  readonly expiresAt: number;
  readonly maxEvents?: number;
  /** Whether its holder must narrow it before use. */
  readonly needsHolder: boolean;
  /** The claims of each link, the issuer's first; empty for Chio. */
  readonly links: readonly JsonObject[];
};

/**
 * Describes a token without verifying it.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED`
 */
export function describeCapability(token: JsonValue): CapabilityDescription {
  if (tokenKey(token) === undefined) throw malformed("length");
  if (typeof token === "string" && !token.startsWith("{")) return describeChain(token);
  try {
    return describeChio(token);
  } catch (error) {
    if (isCountersignError(error) && error.code.startsWith("ERR_JSON")) throw malformed("JSON");
    throw error;
  }
}

function describeChain(token: string): CapabilityDescription {
  const links = readChain(token);
  const { claims } = links.at(-1) ?? links[0];
  return {
    format: "countersign",
    id: claims.jti,
    issuer: links[0].claims.iss,
    subject: claims.sub,
    ...(claims.sid === undefined ? {} : { sessionId: claims.sid }),
    ...(claims.principal === undefined ? {} : { principal: claims.principal }),
    scopes: claims.scope,
    notBefore: claims.nbf,
    expiresAt: claims.exp,
    ...(claims.max_events === undefined ? {} : { maxEvents: claims.max_events }),
    needsHolder: claims.cnf !== undefined,
    links: links.map((link) => claimsToJson(link.claims)),
  };
}

function describeChio(token: JsonValue): CapabilityDescription {
  const { id, issuer, subject, grants, issuedAt, expiresAt } = readChioToken(
    readLossless(token).value,
  );
  const usable = uiGrants(grants).filter((grant) => grantFault(grant) === undefined);
  const sessions = new Set(usable.map(({ binding }) => binding.get("session_id")));
  const [sessionId] = sessions;
  const principals = new Set(usable.map(({ binding }) => binding.get("principal_id")));
  const [principal] = principals;
  return {
    format: "chio",
    id,
    issuer,
    subject,
    ...(sessions.size === 1 && typeof sessionId === "string" ? { sessionId } : {}),
    ...(principals.size === 1 && typeof principal === "string" ? { principal } : {}),
    scopes: [...new Set(usable.map(grantScope))].sort(),
    notBefore: Number(issuedAt),
    expiresAt: Number(expiresAt),
    needsHolder: false,
    links: [],
  };
}
