import type { ShownPart } from "../classify/facts.js";
import type { OnBlock } from "../document/model.js";

/** Why an event is blocked, for queries; `reason` is the text for people. */
export type ReasonCode =
  | "no_rules"
  | "transport_not_allowed"
  | "order_violation"
  | "rate_exceeded"
  | "claim_mismatch"
  | "unknown_component_type"
  | "unknown_component_id"
  | "component_blocked"
  | "component_required"
  | "capability_required"
  | "capability_missing"
  | "capability_expired"
  | "capability_not_yet_valid"
  | "capability_revoked"
  | "capability_untrusted"
  | "capability_bad_signature"
  | "capability_malformed"
  | "capability_wrong_session"
  | "capability_wrong_agent"
  | "capability_wrong_principal"
  | "capability_exhausted"
  | "capability_rejected"
  | "scope_not_authorized"
  | "exact_scope_required"
  | "velocity_exceeded"
  | "tool_not_allowed"
  | "tool_not_advertised"
  | "tool_result_forged"
  | "tool_declaration_not_allowed"
  | "tool_arguments_incomplete"
  | "tool_arguments_unparsable"
  | "tool_arguments_invalid"
  | "tools_quarantined"
  | "content_refused"
  | "surface_undecided"
  | "surface_catalogue"
  | "surface_component"
  | "surface_props"
  | "surface_function"
  | "surface_url"
  | "surface_input"
  | "surface_label"
  | "surface_data_model"
  | "surface_click"
  | "app_server"
  | "app_resource"
  | "app_domain"
  | "app_permission"
  | "app_html"
  | "app_request"
  | "condition"
  | "condition_failed"
  | "evaluation_failed";

/** A block: the rule, the reason, and what the client sees. */
export type Denial = {
  readonly allow: false;
  readonly rule: string;
  readonly reason: string;
  readonly reasonCode: ReasonCode;
  readonly onBlock: OnBlock;
  /** JSON Pointer of the part that decided: a path of the state, or a part of the event or request. Never a value. */
  readonly path?: string;
  /** The component of generative UI that decided. */
  readonly component?: ShownPart;
  /** Of a request that does not match what the thread was shown: how to fix it. */
  readonly remedy?: string;
  /** The tool that decided, where an event is about several. */
  readonly tool?: string;
};

/** An allow; `observed` is the block that a rule in observe mode would have made. */
export type Permit = {
  readonly allow: true;
  readonly observed?: Denial;
  /** Other rules that would have blocked as well, without duplicates. */
  readonly further?: readonly string[];
};

/** The decision about an event. */
export type Decision = Permit | Denial;

/** The object that every plain allow returns. */
export const ALLOW: Permit = Object.freeze({ allow: true });

const permits = new WeakMap<Denial, Permit>();

/** Maximum number of further rules in an allow. */
export const MAX_FURTHER_RULES = 16;

/**
 * An allow with its observed block; the same object every time, unless other rules would have
 * blocked as well.
 */
export function observed(denial: Denial, further?: readonly string[]): Permit {
  if (further !== undefined) return Object.freeze({ allow: true, observed: denial, further });
  let permit = permits.get(denial);
  if (permit === undefined) {
    permit = Object.freeze({ allow: true, observed: denial });
    permits.set(denial, permit);
  }
  return permit;
}
