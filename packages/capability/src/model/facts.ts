import { CAPABILITY_STATUS_REASONS } from "@countersign/core";
import type { CapabilityFacts as Facts, CapabilityStatus, JsonValue } from "@countersign/core";

/** The part of an event that a token can authorize. */
export type AuthorizedAspect = {
  readonly classification: string;
  readonly target?: { readonly component_type: string; readonly component_id?: string };
};

/** A capability as input of a decision: already verified, valid or not. */
export type CapabilityFacts = Facts<unknown, AuthorizedAspect>;

/** The context in which a token is presented. */
export type CapabilityContext = {
  readonly agent: string;
  readonly sessionId: string;
  /**
   * The principal of the connection. Absent when the client presented no credential: then a token
   * that names a principal is not valid.
   */
  readonly principal?: string;
  /** The event, for Chio constraints that read it; without it they deny. */
  readonly event?: { readonly id?: string; readonly payload?: JsonValue };
};

/** The id of a token whose own id cannot be read. */
export const MALFORMED_ID = "<malformed>";

/** The reason when no scope or grant covers the event. */
export const NOT_AUTHORIZED = "capability scope does not authorize this AG-UI event";

const NO_SCOPES: readonly string[] = Object.freeze([]);

/** Facts of a rejected token. */
export function refuse(
  id: string,
  status: Exclude<CapabilityStatus, "valid">,
  reason: string = CAPABILITY_STATUS_REASONS[status],
): CapabilityFacts {
  return Object.freeze({ id, status, scopes: NO_SCOPES, reason });
}
