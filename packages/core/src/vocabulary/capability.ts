import type { JsonObject } from "../json/value.js";

/** The possible results of verifying a capability token. */
export const CAPABILITY_STATUSES = [
  "valid",
  "expired",
  "not_yet_valid",
  "revoked",
  "untrusted_issuer",
  "bad_signature",
  "malformed",
  "wrong_session",
  "wrong_agent",
  "wrong_principal",
  "exhausted",
  "rejected",
] as const;

/** The result of verifying a capability token. */
export type CapabilityStatus = (typeof CAPABILITY_STATUSES)[number];

/** The reason of a denial for each status; Chio's own text if it has one. */
export const CAPABILITY_STATUS_REASONS: Readonly<
  Record<Exclude<CapabilityStatus, "valid">, string>
> = {
  expired: "capability time validation failed: expired",
  not_yet_valid: "capability time validation failed: not yet valid",
  revoked: "capability has been revoked",
  untrusted_issuer: "capability verification failed: issuer is not trusted",
  bad_signature: "capability verification failed: signature did not verify",
  malformed: "capability verification failed: token is malformed",
  wrong_session: "capability verification failed: token is bound to another session",
  wrong_agent: "capability verification failed: token is bound to another agent",
  wrong_principal: "capability verification failed: token is bound to another principal",
  exhausted: "capability has no events left",
  rejected: "capability verification failed: token was rejected",
};

/** A capability as input of a decision: already verified, valid or not. */
export type CapabilityFacts<Event, Aspect> = {
  /** The token's id as presented, even if forged; `<malformed>` when it cannot be read. */
  readonly id: string;
  readonly status: CapabilityStatus;
  /**
   * `ui:<classification>:<component_type>[:<component_id>]`, `*` allowed, as the issuer wrote them.
   * One array per cached token: the policy compiles it once.
   */
  readonly scopes: readonly string[];
  /** The reason of a denial; absent when valid. */
  readonly reason?: string;
  /** Further claims for conditions, e.g. `sub`. */
  readonly claims?: JsonObject;
  /**
   * Constraints that a scope cannot express; a returned reason denies. With `scope`, only that
   * scope's constraints count.
   */
  readonly authorize?: (event: Event, aspect: Aspect, scope?: string) => string | undefined;
};
