import type { JsonObject, JsonValue } from "@countersign/core";
import { decodeHex } from "@countersign/core";
import type { CapabilityContext, CapabilityFacts } from "../facts.js";
import { NOT_AUTHORIZED, refuse } from "../facts.js";
import { own } from "../reading/read.js";
import type { TrustList } from "../trust/trust-list.js";
import type { Allowance, Reading } from "../verifier/authentic.js";
import type { SignatureCheck } from "../verifier/signatures.js";
import type { ChioAgents } from "./agents.js";
import { delegationFault } from "./delegation.js";
import type { UiGrant } from "./grants.js";
import { bindsAspect, fitsContext, grantFault, grantScope, uiGrants } from "./grants.js";
import type { LosslessDocument } from "./lossless.js";
import { readLossless } from "./lossless.js";
import type { ChioToken } from "./model.js";
import { readChioToken } from "./read-model.js";

/** The schema of the tokens read here. */
export const CHIO_SCHEMA = "chio.capability.v1";

const KEY = /^(?:ed25519:)?([0-9a-f]{64})$/;
const SIGNATURE = /^(?:ed25519:)?([0-9a-f]{128})$/;

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
  const issuerKey = trust.findKey(KEY.exec(token.issuer)?.[1] ?? "");
  if (issuerKey === undefined) return { refusal: refuse(id, "untrusted_issuer") };
  if (token.schema !== undefined && token.schema !== CHIO_SCHEMA) {
    return reject("token schema exceeds peer-negotiated ceiling");
  }
  const checks = signatureChecks(document, token, issuerKey);
  if (checks === undefined) return reject("capability crypto floor rejected");
  const fault = delegationFault(token);
  if (fault !== undefined) return reject(fault);
  const grants = uiGrants(token.grants);
  const subject = KEY.exec(token.subject)?.[1] ?? "";
  return {
    checks,
    token: {
      id,
      lineage: [...token.chain.map(({ capabilityId }) => capabilityId), id],
      notBefore: Number(token.issuedAt),
      expiresAt: Number(token.expiresAt),
      allowances: allowancesOf(token, grants),
      admit: (context, spending) => {
        if (!agents(context.agent, subject)) return refuse(id, "wrong_agent");
        const left = grants.filter(
          ({ maxInvocations: m }) => m === undefined || spending.spent(id) < m,
        );
        return admitGrants(token, left, context);
      },
    },
  };
}

// Policies compile a token's scopes once per array, so equal lists of one token must be one array.
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
    return usable.length > 0 && isElsewhere
      ? refuse(id, "wrong_session")
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
  // As many lists as there are sets of grants in force; a hostile token is forgotten with its entry.
  if (known.size < 64) known.set(key, array);
  return array;
}

/** One count per token: an event counts against every grant, which is never more than Chio allows. */
function allowancesOf({ id, expiresAt }: ChioToken, grants: readonly UiGrant[]): Allowance[] {
  if (!grants.some(({ maxInvocations }) => maxInvocations !== undefined)) return [];
  const maxEvents = Math.max(...grants.map(({ maxInvocations = Infinity }) => maxInvocations));
  return [{ id, maxEvents, expiresAt: Number(expiresAt) }];
}

/** The signatures of the token and of each link; `undefined` when one is of a kind we do not verify. */
function signatureChecks(
  document: LosslessDocument,
  token: ChioToken,
  issuerKey: Uint8Array,
): SignatureCheck[] | undefined {
  if (token.algorithm !== undefined && token.algorithm !== "ed25519") return undefined;
  const encode = (part: JsonObject): Uint8Array =>
    new TextEncoder().encode(document.canonical(part));
  const json = document.json as JsonObject;
  const { signature: _signature, algorithm: _algorithm, schema: _schema, ...body } = json;
  const signature = SIGNATURE.exec(token.signature)?.[1];
  if (signature === undefined) return undefined;
  // Older issuers signed plain tokens without the schema; newer features always come with it.
  const isPlain = token.budgetShare === undefined && !token.has.attenuation && !token.has.caveats;
  const checks: SignatureCheck[] = [
    {
      key: issuerKey,
      messages: [encode({ ...body, schema: CHIO_SCHEMA }), ...(isPlain ? [encode(body)] : [])],
      signature: decodeHex(signature),
    },
  ];
  const links = own(json, "delegation_chain");
  for (const [index, link] of token.chain.entries()) {
    const key = KEY.exec(link.delegator)?.[1];
    const linkSignature = SIGNATURE.exec(link.signature)?.[1];
    if (key === undefined || linkSignature === undefined || !KEY.test(link.delegatee))
      return undefined;
    const { signature: _ownSignature, ...rest } = (links as JsonObject[])[index] ?? {};
    checks.push({
      key: decodeHex(key),
      messages: [encode(rest)],
      signature: decodeHex(linkSignature),
    });
  }
  return checks;
}
