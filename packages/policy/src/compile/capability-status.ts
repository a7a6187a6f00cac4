import type { CapabilityStatus } from "./facts.js";
import type { ReasonCode } from "./decision.js";

/** What a token that is not valid says in a denial; the seed's and Chio's sentences where they have one. */
export const STATUS_REASONS = {
  expired: ["capability_expired", "capability time validation failed: expired"],
  not_yet_valid: ["capability_not_yet_valid", "capability time validation failed: not yet valid"],
  revoked: ["capability_revoked", "capability has been revoked"],
  untrusted_issuer: [
    "capability_untrusted",
    "capability verification failed: issuer is not trusted",
  ],
  bad_signature: [
    "capability_bad_signature",
    "capability verification failed: signature did not verify",
  ],
  malformed: ["capability_malformed", "capability verification failed: token is malformed"],
  wrong_session: [
    "capability_wrong_session",
    "capability verification failed: token is bound to another session",
  ],
  wrong_agent: [
    "capability_wrong_agent",
    "capability verification failed: token is bound to another agent",
  ],
  wrong_principal: [
    "capability_wrong_principal",
    "capability verification failed: token is bound to another principal",
  ],
  exhausted: ["capability_exhausted", "capability has no events left"],
  rejected: ["capability_rejected", "capability verification failed: token was rejected"],
} as const satisfies Record<Exclude<CapabilityStatus, "valid">, readonly [ReasonCode, string]>;
