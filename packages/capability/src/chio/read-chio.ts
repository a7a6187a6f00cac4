import type { JsonValue } from "@countersign/core";
import type { CapabilityContext, CapabilityFacts } from "../model/facts.js";
import { NOT_AUTHORIZED, refuse } from "../model/facts.js";
import { keyName } from "../trust/public-key.js";
import type { TrustList } from "../trust/trust-list.js";
import type { Allowance, Reading } from "../model/authentic.js";
import { allowanceId } from "../model/spending.js";
import type { ChioAgents } from "./agents.js";
import { delegationFault } from "./delegation.js";
import type { UiGrant } from "./grants.js";
import {
  bindsAspect,
  fitsContext,
  fitsPrincipal,
  grantFault,
  grantScope,
  uiGrants,
} from "./grants.js";
import { readLossless } from "./lossless.js";
import type { ChioToken } from "./model.js";
import { readChioToken } from "./read-model.js";
import { CHIO_SCHEMA, keyHex, signatureChecks } from "./signatures.js";

/**
 * Reads a Chio token, as text or as parsed JSON.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED` or one of the `ERR_JSON_…` codes
 */
export function readChio(input: JsonValue, trust: TrustList, agents: ChioAgents): Reading {
  const document = readLossless(input);
  const token = readChioToken(document.value);
  const { id } = token;
  const reject = (reason: string): Reading => ({
    refusal: refuse(id, "rejected", `capability verification failed: ${reason}`),
  });
  const issuerKey = trust.findKey(keyHex(token.issuer) ?? "");
  if (issuerKey === undefined) return { refusal: refuse(id, "untrusted_issuer") };
  if (token.schema !== undefined && token.schema !== CHIO_SCHEMA) {
    return reject("token schema exceeds peer-negotiated ceiling");
  }
  const checks = signatureChecks(document, token, issuerKey);
  if (checks === undefined) return reject("capability crypto floor rejected");
  const fault = delegationFault(token);
  if (fault !== undefined) return reject(fault);
  const grants = uiGrants(token.grants);
  const subject = keyHex(token.subject) ?? "";
  const counted = allowanceId(keyName(issuerKey), id);
  return {
    checks,
    token: {
      id,
      lineage: [...token.chain.map(({ capabilityId }) => capabilityId), id],
      notBefore: Number(token.issuedAt),
      expiresAt: Number(token.expiresAt),
      allowances: allowancesOf(counted, token, grants),
      admit: (context, spending) => {
        if (!agents(context.agent, subject)) return refuse(id, "wrong_agent");
        const left = grants.filter(
          ({ maxInvocations: m }) => m === undefined || spending.spent(counted) < m,
        );
        return admitGrants(token, left, context);
      },
    },
  };
}

// Policies compile a token's scopes once per array, so equal lists of one token must be the same
// array.
const scopeArrays = new WeakMap<ChioToken, Map<string, readonly string[]>>();

function admitGrants(
  token: ChioToken,
  grants: readonly UiGrant[],
  context: CapabilityContext,
): CapabilityFacts {
  const { id } = token;
  const usable = grants.filter((grant) => grantFault(grant) === undefined);
  const fitting = usable.filter((grant) => fitsContext(grant, context));
  if (fitting.length === 0) {
    const [first] = grants;
    const reason = usable.length > 0 || first === undefined ? undefined : grantFault(first);
    if (reason !== undefined) {
      return refuse(id, "rejected", `capability scope constraint failed: ${reason}`);
    }
    const isElsewhere = usable.every(
      (grant) => grant.binding.get("session_id") !== context.sessionId,
    );
    if (usable.length > 0 && isElsewhere) return refuse(id, "wrong_session");
    return usable.length > 0 && !usable.some((grant) => fitsPrincipal(grant, context))
      ? refuse(id, "wrong_principal")
      : refuse(id, "rejected", NOT_AUTHORIZED);
  }
  return Object.freeze({
    id,
    status: "valid",
    scopes: scopesOf(token, fitting),
    claims: Object.freeze({ jti: id, iss: token.issuer, sub: token.subject }),
    authorize: (_event, aspect) =>
      fitting.some((grant) => bindsAspect(grant, context, aspect)) ? undefined : NOT_AUTHORIZED,
  } satisfies CapabilityFacts);
}

function scopesOf(token: ChioToken, grants: readonly UiGrant[]): readonly string[] {
  const scopes = [...new Set(grants.map(grantScope))].sort();
  const known = scopeArrays.get(token) ?? new Map<string, readonly string[]>();
  scopeArrays.set(token, known);
  const key = scopes.join("\n");
  const array = known.get(key) ?? Object.freeze(scopes);
  // One list per set of active grants; the entry of a hostile token is collected with the token.
  if (known.size < 64) known.set(key, array);
  return array;
}

/**
 * One count per token: an event counts against every grant, which never allows more than Chio does.
 */
function allowancesOf(
  id: string,
  { expiresAt }: ChioToken,
  grants: readonly UiGrant[],
): Allowance[] {
  if (!grants.some(({ maxInvocations }) => maxInvocations !== undefined)) return [];
  const maxEvents = Math.max(...grants.map(({ maxInvocations = Infinity }) => maxInvocations));
  return [{ id, maxEvents, expiresAt: Number(expiresAt) }];
}
