import { CAPABILITY_STATUS_REASONS } from "@countersign/core";
import type { CapabilityFacts as Facts, CapabilityStatus, JsonValue } from "@countersign/core";

/** The part of an event a token may have a say about. */
export type AuthorizedAspect = {
  readonly classification: string;
  readonly target?: { readonly component_type: string; readonly component_id?: string };
};

/** A capability as a decision sees it: already verified, valid or not. */
export type CapabilityFacts = Facts<unknown, AuthorizedAspect>;

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

/** The sentence for an event no scope or grant covers. */
export const NOT_AUTHORIZED = "capability scope does not authorize this AG-UI event";

const NO_SCOPES: readonly string[] = Object.freeze([]);

/** Facts of a token that opens nothing. */
export function refuse(
  id: string,
  status: Exclude<CapabilityStatus, "valid">,
  reason: string = CAPABILITY_STATUS_REASONS[status],
): CapabilityFacts {
  return Object.freeze({ id, status, scopes: NO_SCOPES, reason });
}
