import { parseScope } from "../scope/grammar.js";
import { coversScope, widenedScopes } from "../scope/match.js";
import { keyName, keyThumbprint } from "../trust/public-key.js";
import type { ChainLink } from "./chain.js";
import { parentDigest } from "./chain.js";
import type { CapabilityClaims } from "./claims.js";
import { holderKey } from "./claims.js";

/** The first claim in which a child would allow more than its parent. */
export function widenedField(
  parent: CapabilityClaims,
  child: CapabilityClaims,
): "sub" | "sid" | "principal" | "scope" | "nbf" | "exp" | "max_events" | undefined {
  if (child.sub !== parent.sub) return "sub";
  if (parent.sid !== undefined && child.sid !== parent.sid) return "sid";
  if (parent.principal !== undefined && child.principal !== parent.principal) return "principal";
  if (widenedScopes(parent.scope, child.scope).length > 0) return "scope";
  if (child.nbf < parent.nbf) return "nbf";
  if (child.exp > parent.exp) return "exp";
  const { max_events: most } = parent;
  if (most !== undefined && (child.max_events === undefined || child.max_events > most)) {
    return "max_events";
  }
  return undefined;
}

/** Why a chain is inconsistent, apart from signatures; `undefined` when it is consistent. */
export function chainFault(links: readonly ChainLink[]): string | undefined {
  let parent: ChainLink | undefined;
  for (const link of links) {
    const fault = parent === undefined ? rootFault(link) : linkFault(parent, link);
    if (fault !== undefined) return fault;
    parent = link;
  }
  // The recipient of a narrowed token also receives its parent's text. That text must be worthless
  // without the holder's key, or removing the last link would undo the narrowing.
  return parent?.claims.cnf === undefined
    ? undefined
    : "token must be narrowed by its holder before use";
}

function rootFault({ claims }: ChainLink): string | undefined {
  if (claims.parent !== undefined) return "narrowed token comes without its parent";
  return claims.jti.includes("/") ? "token id belongs to a narrowing" : undefined;
}

function linkFault(parent: ChainLink, { claims, keyId }: ChainLink): string | undefined {
  const key = holderKey(parent.claims);
  if (key === undefined) return "token has no holder who could narrow it";
  if (claims.iss !== keyName(key) || keyId !== keyThumbprint(key)) {
    return "narrowing is not signed by the holder";
  }
  if (claims.parent !== parentDigest(parent.text)) return "narrowing belongs to another token";
  // The holder chooses ids only below its own token, so it can neither use up nor shadow other
  // tokens.
  if (claims.jti.slice(0, claims.jti.lastIndexOf("/")) !== parent.claims.jti) {
    return "narrowing has an id of another token";
  }
  const field = widenedField(parent.claims, claims);
  return field === undefined ? undefined : `narrowing widens ${field}`;
}

/** A scope of the last link, and the issuer's own scope it comes from. */
export type EffectiveScope = { readonly text: string; readonly origin: string };

/**
 * The scopes of the last link with their origins. A policy may require one scope by its exact text,
 * where a wildcard is not enough. A holder must not write that text under a wildcard and so gain
 * more than its parent. So only texts of the issuer reach the policy.
 */
export function effectiveScopes(chain: readonly CapabilityClaims[]): readonly EffectiveScope[] {
  const [root, ...narrowings] = chain;
  let effective = (root?.scope ?? []).map((text): EffectiveScope => ({ text, origin: text }));
  for (const { scope } of narrowings) {
    const parents = effective;
    effective = scope.flatMap((text) => {
      const same = parents.find((parent) => parent.text === text);
      if (same !== undefined) return [same];
      const inner = parseScope(text);
      const cover = parents.find((parent) => coversScope(parent.text, inner));
      return cover === undefined ? [] : [{ text, origin: cover.origin }];
    });
  }
  return effective;
}
