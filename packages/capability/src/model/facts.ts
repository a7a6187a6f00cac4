import type { JsonObject, JsonValue } from "@countersign/core";

/** What came of looking at a presented token. */
export type CapabilityStatus =
  | "valid"
  | "expired"
  | "not_yet_valid"
  | "revoked"
  | "untrusted_issuer"
  | "bad_signature"
  | "malformed"
  | "wrong_session"
  | "wrong_agent"
  | "wrong_principal"
  | "exhausted"
  | "rejected";

/** The part of an event a token may have a say about. */
export type AuthorizedAspect = {
  readonly classification: string;
  readonly target?: { readonly component_type: string; readonly component_id?: string };
};

/** A capability as a decision sees it: already verified, one way or the other. */
export type CapabilityFacts = {
  /** The token's id as presented, even if forged; `<malformed>` where there is none to read. */
  readonly id: string;
  readonly status: CapabilityStatus;
  /** Scopes as the issuer wrote them; one array per token for as long as it is remembered. */
  readonly scopes: readonly string[];
  /** The sentence for a denial; absent when valid. */
  readonly reason?: string;
  readonly claims?: JsonObject;
  /** What scope strings cannot say; a sentence denies. With `scope`, what is left of that one alone is asked. */
  readonly authorize?: (
    event: unknown,
    aspect: AuthorizedAspect,
    scope?: string,
  ) => string | undefined;
};

/** Where a token is presented. */
export type CapabilityContext = {
  readonly agent: string;
  readonly sessionId: string;
  /**
   * The principal that the connection acts for. Absent where the client showed no credential: then no token that
   * names a principal is valid.
   */
  readonly principal?: string;
  /** The event in question, for Chio constraints that look into it; without it they deny. */
  readonly event?: { readonly id?: string; readonly payload?: JsonValue };
};

/** The id that stands for a token without a readable one. */
export const MALFORMED_ID = "<malformed>";

/** One sentence per status: the seed's and Chio's own where they have one. */
export const STATUS_REASONS: Readonly<Record<Exclude<CapabilityStatus, "valid">, string>> = {
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

/** The sentence for an event no scope or grant covers. */
export const NOT_AUTHORIZED = "capability scope does not authorize this AG-UI event";

const NO_SCOPES: readonly string[] = Object.freeze([]);

/** Facts of a token that opens nothing. */
export function refuse(
  id: string,
  status: Exclude<CapabilityStatus, "valid">,
  reason: string = STATUS_REASONS[status],
): CapabilityFacts {
  return Object.freeze({ id, status, scopes: NO_SCOPES, reason });
}
