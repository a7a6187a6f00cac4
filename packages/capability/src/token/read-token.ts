import type { CapabilityContext, CapabilityFacts } from "../model/facts.js";
import { NOT_AUTHORIZED, refuse } from "../model/facts.js";
import { deepFreeze } from "../reading/read.js";
import { parseScope } from "../scope/grammar.js";
import { matchesScope } from "../scope/match.js";
import type { TrustList } from "../trust/trust-list.js";
import type { Allowance, Reading } from "../model/authentic.js";
import { allowanceId } from "../model/spending.js";
import type { ChainLink } from "./chain.js";
import { readChain } from "./chain.js";
import { claimsToJson, holderKey } from "./claims.js";
import type { EffectiveScope } from "./narrowing.js";
import { chainFault, effectiveScopes } from "./narrowing.js";

/**
 * Parses a token text: everything that needs no cryptography is checked here, the issuer's key
 * first.
 *
 * @throws CountersignError `ERR_CAPABILITY_MALFORMED`
 */
export function readToken(text: string, trust: TrustList): Reading {
  const links = readChain(text);
  const [root] = links;
  const leaf = links.at(-1) ?? root;
  const { jti: id } = leaf.claims;
  const issuerKey = trust.find(root.claims.iss, root.keyId);
  if (issuerKey === undefined) return { refusal: refuse(id, "untrusted_issuer") };
  const fault = chainFault(links);
  if (fault !== undefined) {
    return { refusal: refuse(id, "rejected", `capability verification failed: ${fault}`) };
  }
  const { nbf, exp, sub, sid, principal: named } = leaf.claims;
  const facts = validFacts(links, leaf);
  const wrongAgent = refuse(id, "wrong_agent");
  const wrongSession = refuse(id, "wrong_session");
  const wrongPrincipal = refuse(id, "wrong_principal");
  return {
    checks: links.map((link, index) => ({
      key: signerOf(links[index - 1]) ?? issuerKey,
      messages: [link.signingInput],
      signature: link.signature,
    })),
    token: {
      id,
      lineage: links.map(({ claims }) => claims.jti),
      notBefore: nbf,
      expiresAt: exp,
      allowances: allowancesOf(root.claims.iss, links),
      admit({ agent, sessionId, principal }: CapabilityContext): CapabilityFacts {
        if (sub !== agent) return wrongAgent;
        if (sid !== undefined && sid !== sessionId) return wrongSession;
        return named === undefined || named === principal ? facts : wrongPrincipal;
      },
    },
  };
}

function signerOf(parent: ChainLink | undefined): Uint8Array | undefined {
  return parent === undefined ? undefined : holderKey(parent.claims);
}

function allowancesOf(issuer: string, links: readonly ChainLink[]): Allowance[] {
  return links.flatMap(({ claims: { jti, exp, max_events: most } }) =>
    most === undefined ? [] : [{ id: allowanceId(issuer, jti), maxEvents: most, expiresAt: exp }],
  );
}

function validFacts(links: readonly ChainLink[], { claims }: ChainLink): CapabilityFacts {
  const scopes = effectiveScopes(links.map((link) => link.claims));
  const isRefined = scopes.some(({ text, origin }) => text !== origin);
  return Object.freeze({
    id: claims.jti,
    status: "valid",
    scopes: Object.freeze([...new Set(scopes.map(({ origin }) => origin))]),
    claims: deepFreeze(claimsToJson(claims)),
    ...(isRefined ? { authorize: refinement(scopes) } : {}),
  });
}

/** When a holder wrote its own scopes, the issuer's wider ones must not replace them. */
function refinement(scopes: readonly EffectiveScope[]): NonNullable<CapabilityFacts["authorize"]> {
  const held = scopes.map(({ text, origin }) => ({ text, origin, parsed: parseScope(text) }));
  return (_event, { classification, target }, asked) => {
    const query = {
      classification,
      componentType: target?.component_type,
      componentId: target?.component_id,
    };
    const isOpen = held.some(({ text, origin, parsed }) => {
      if (asked !== undefined && origin !== asked) return false;
      // An unrefined scope has the value of the issuer's own token.
      return text === asked || matchesScope(parsed, query);
    });
    return isOpen ? undefined : NOT_AUTHORIZED;
  };
}
