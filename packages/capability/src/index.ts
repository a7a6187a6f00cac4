export { CAPABILITY_STATUS_REASONS as STATUS_REASONS, CLASSIFICATIONS } from "@countersign/core";
export type { CapabilityStatus, Classification } from "@countersign/core";
export type { ChioOptions } from "./chio/agents.js";
export type { AuthorizedAspect, CapabilityContext, CapabilityFacts } from "./model/facts.js";
export { describeCapability } from "./inspect.js";
export type { CapabilityDescription } from "./inspect.js";
export {
  createRevocationList,
  formatRevocation,
  parseRevocations,
} from "./revocation/revocation.js";
export type { Revocation, RevocationList, RevocationSource } from "./revocation/revocation.js";
export { canonicalScopes, formatScope, parseScope } from "./scope/grammar.js";
export type { Scope } from "./scope/grammar.js";
export { coversScope, matchesScope, widenedScopes } from "./scope/match.js";
export type { ScopeQuery } from "./scope/match.js";
export { isCapabilityId } from "./token/claims.js";
export type { CapabilityClaims } from "./token/claims.js";
export { keyName, keyThumbprint, readPublicKey, toJwk } from "./trust/public-key.js";
export type { Ed25519Jwk, PublicKeyInput } from "./trust/public-key.js";
export { createTrustList } from "./trust/trust-list.js";
export type { TrustedIssuer, TrustList } from "./trust/trust-list.js";
export type { Allowance } from "./model/authentic.js";
export type { ForgeryLimit } from "./verifier/forgery-counter.js";
export type { VerifySignature } from "./model/signatures.js";
export { allowanceId, createSpendingBook } from "./model/spending.js";
export type { SpendingBook } from "./model/spending.js";
export { createCapabilityVerifier } from "./verifier/verifier.js";
export type { CapabilityVerifier, CapabilityVerifierOptions } from "./verifier/verifier.js";
