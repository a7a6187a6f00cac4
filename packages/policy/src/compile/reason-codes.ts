import type { ReasonCode } from "./decision.js";
import type { PolicyRuleId } from "./rule-meanings.js";

type CodeMeaning = { readonly means: string; readonly rule: PolicyRuleId };

const token = (means: string): CodeMeaning => ({ means, rule: "ag_ui.capability" });
const component = (means: string): CodeMeaning => ({ means, rule: "ag_ui_components" });
const call = (means: string): CodeMeaning => ({ means, rule: "ag_ui_tools.call" });
const surface = (
  rule: PolicyRuleId extends infer Id
    ? Id extends `ag_ui_surfaces.${infer Name}`
      ? Name
      : never
    : never,
  means: string,
): CodeMeaning => ({ means, rule: `ag_ui_surfaces.${rule}` });
const app = (
  rule: PolicyRuleId extends infer Id
    ? Id extends `ag_ui_apps.${infer Name}`
      ? Name
      : never
    : never,
  means: string,
): CodeMeaning => ({ means, rule: `ag_ui_apps.${rule}` });

/** The meaning of each `reason_code` of a decision, and its rule. */
export const REASON_CODES: Readonly<Record<ReasonCode, CodeMeaning>> = {
  no_rules: { means: "the policy has no enabled ag_ui block", rule: "policy" },
  transport_not_allowed: { means: "the policy is for another transport", rule: "ag_ui.transport" },
  order_violation: { means: "an event breaks the order of the protocol", rule: "ag_ui_order" },
  rate_exceeded: { means: "too many events in one second", rule: "ag_ui.max_events_per_second" },
  claim_mismatch: {
    means: "an event claims another class or target than its own",
    rule: "ag_ui.classification",
  },
  unknown_component_type: component("the policy does not list the component's type"),
  unknown_component_id: component("the policy does not list the component's id"),
  component_blocked: component("the policy lists the component as blocked"),
  component_required: component("a form or a notification names no component"),
  capability_required: token("the class of the event needs a token, and the client has none"),
  capability_missing: token("the policy asks for a token with every event"),
  capability_expired: token("the token has expired"),
  capability_not_yet_valid: token("the token is not valid yet"),
  capability_revoked: token("the token was revoked"),
  capability_untrusted: token("the issuer of the token is not trusted"),
  capability_bad_signature: token("the signature of the token is wrong"),
  capability_malformed: token("the token cannot be read"),
  capability_wrong_session: token("the token is for another session"),
  capability_wrong_agent: token("the token is for another agent"),
  capability_wrong_principal: token("the token is for another principal"),
  capability_exhausted: token("the token has no events left"),
  capability_rejected: token("the token was rejected"),
  scope_not_authorized: token("no scope of the token covers the event"),
  exact_scope_required: {
    means: "the policy asks for a token with exactly one scope",
    rule: "ag_ui.capability_scopes",
  },
  velocity_exceeded: { means: "a cap over a window of time is reached", rule: "velocity.*" },
  tool_not_allowed: call("the policy does not allow the tool"),
  tool_not_advertised: call("the client did not declare the tool"),
  tool_result_forged: call("the agent answers a tool of the client"),
  tool_declaration_not_allowed: {
    means: "the client declares a tool that the policy does not allow",
    rule: "ag_ui_tools.declare",
  },
  tool_arguments_incomplete: call("the arguments of the call are not complete"),
  tool_arguments_unparsable: call("the arguments of the call are not JSON"),
  tool_arguments_invalid: call("the arguments of the call do not fit their schema"),
  tools_quarantined: {
    means: "too many calls of the thread were denied",
    rule: "ag_ui_tools.quarantine",
  },
  content_refused: {
    means: "a text holds what the policy does not show",
    rule: "ag_ui_content.markup",
  },
  surface_undecided: surface("undecided", "what a client would show is not certain"),
  surface_catalogue: surface("catalogues", "the policy does not list the catalogue"),
  surface_component: surface("components", "the policy does not list the component of a catalogue"),
  surface_props: surface("props", "the properties of a component do not fit their schema"),
  surface_function: surface("functions", "the policy does not list the function"),
  surface_url: surface("urls", "the policy does not allow the URL of a component"),
  surface_input: surface("inputs", "an input asks for a secret"),
  surface_label: surface("labels", "a label contradicts its action"),
  surface_data_model: surface("send_data_model", "a page would send its whole data model"),
  surface_click: surface("clicks", "a click is not one that the thread was shown"),
  app_server: app("servers", "the policy does not list the MCP server"),
  app_resource: app("resources", "the policy does not list the resource or its HTML"),
  app_domain: app("csp", "the policy does not list the domain"),
  app_permission: app("permissions", "the policy does not list the permission"),
  app_html: app("html", "the policy does not allow the HTML of an agent"),
  app_request: app("requests", "an MCP App asks for what it may not"),
  condition: { means: "a condition of the policy matches", rule: "ag_ui_conditions.*" },
  condition_failed: {
    means: "a condition of the policy has no answer",
    rule: "ag_ui_conditions.*",
  },
  evaluation_failed: {
    means: "the policy could not be evaluated, or the gateway blocks by a rule of its own",
    rule: "policy",
  },
};
