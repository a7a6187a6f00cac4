import type { JsonObject } from "../json/value.js";

/** What the verification of a presented capability token can find. */
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

/** What the verification of a presented capability token found. */
export type CapabilityStatus = (typeof CAPABILITY_STATUSES)[number];

/** The sentence of a denial for each status; Chio's own where it has one. */
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

/** A capability as a decision sees it: already verified, valid or not. */
export type CapabilityFacts<Event, Aspect> = {
  /** The token's id as presented, even if forged; `<malformed>` where there is none to read. */
  readonly id: string;
  readonly status: CapabilityStatus;
  /**
   * `ui:<classification>:<component_type>[:<component_id>]`, `*` allowed, as the issuer wrote them. One array per
   * token for as long as it is remembered: the policy compiles it once.
   */
  readonly scopes: readonly string[];
  /** The sentence for a denial; absent when valid. */
  readonly reason?: string;
  /** Further claims for conditions, e.g. `sub`. */
  readonly claims?: JsonObject;
  /** Constraints that a scope cannot express; a sentence denies. With `scope`, only that scope's constraints count. */
  readonly authorize?: (event: Event, aspect: Aspect, scope?: string) => string | undefined;
};
