import { CAPABILITY_STATUS_REASONS } from "@countersign/core";
import type { CapabilityStatus } from "@countersign/core";
import type { ReasonCode } from "./decision.js";

type Refused = Exclude<CapabilityStatus, "valid">;

const CODES = {
  expired: "capability_expired",
  not_yet_valid: "capability_not_yet_valid",
  revoked: "capability_revoked",
  untrusted_issuer: "capability_untrusted",
  bad_signature: "capability_bad_signature",
  malformed: "capability_malformed",
  wrong_session: "capability_wrong_session",
  wrong_agent: "capability_wrong_agent",
  wrong_principal: "capability_wrong_principal",
  exhausted: "capability_exhausted",
  rejected: "capability_rejected",
} as const satisfies Record<Refused, ReasonCode>;

/** Code and reason of the denial for an invalid token. */
export function reasonOfStatus(status: Refused): readonly [ReasonCode, string] {
  return [CODES[status], CAPABILITY_STATUS_REASONS[status]];
}
