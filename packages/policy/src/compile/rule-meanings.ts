/**
 * The way to allow a blocked action: YAML lines for `rules` of the policy or for
 * `countersign.yaml`, or the reason why no added line does, or why none is needed. Names in
 * capitals are placeholders.
 */
export type Opening =
  | { readonly policy: string }
  | { readonly config: string }
  | { readonly closed: string }
  | { readonly passes: string };

/** The purpose of a rule, the remedy for a blocked action, and the lines that allow it. */
export type RuleMeaning = {
  readonly means: string;
  readonly remedy: string;
  readonly opening: Opening;
};

/**
 * Every rule that a policy can block by. Denials take their rule's name from here, so that each has
 * a meaning; a name that ends in `*` covers the names that a policy defines.
 */
export const POLICY_RULES = {
  policy: {
    means: "the policy has no enabled `ag_ui` block, or could not be evaluated: nothing is allowed",
    remedy: "give the policy an `ag_ui` block; `countersign policy check` reads it",
    opening: { policy: "ag_ui: { allow_display_without_capability: true }" },
  },
  "ag_ui.transport": {
    means: "the policy is for another transport than the one the client is on",
    remedy: "connect over the transport that `ag_ui.transport` names, or set it to `any`",
    opening: { policy: "ag_ui: { transport: any }" },
  },
  ag_ui_order: {
    means: "an event breaks the order that the protocol's text asks for",
    remedy:
      "fix the agent (`countersign doctor` shows where), or allow the rule by name: `ag_ui_order: { rules: { RULE: allow } }`",
    opening: { policy: "ag_ui_order: { rules: { run/finish-ids: allow } }" },
  },
  "ag_ui_messages.unknown_user": {
    means:
      "a message list has a message in the person's name that they did not send on this thread, as far as the gateway knows",
    remedy:
      "have the agent repeat messages under their ids; where the thread was begun without this gateway, write `ag_ui_messages: { unknown_user: allow }`, or `observe` to show them and keep the record",
    opening: { policy: "ag_ui_messages: { unknown_user: allow }" },
  },
  "ag_ui_messages.unknown_system": {
    means:
      "a message list has a message in the role of `system` or `developer` that was not sent on this thread: most often the framework's own prompt",
    remedy:
      "have the agent leave its prompt out of the list; where people may read it, write `ag_ui_messages: { unknown_system: allow }`",
    opening: { policy: "ag_ui_messages: { unknown_system: allow }" },
  },
  "ag_ui.max_events_per_second": {
    means: "the connection carried more events in one second than the policy allows",
    remedy: "send fewer, larger deltas, or raise `ag_ui.max_events_per_second`",
    opening: { policy: "ag_ui: { max_events_per_second: 5000 }" },
  },
  "ag_ui.classification": {
    means: "an event claims to do less than it does",
    remedy: "leave the claim out: the class is derived from what the event does",
    opening: {
      closed:
        "an event that claims a lower class than its own would choose the rules that judge it",
    },
  },
  ag_ui_components: {
    means: "the event touches a part of the screen that the policy does not list",
    remedy:
      "add the component to `ag_ui_components.allow_components`; what creates it needs its class opened too (`ag_ui_classify`)",
    opening: { policy: "ag_ui_components: { allow_components: [COMPONENT] }" },
  },
  "ag_ui.capability": {
    means: "an event of this class needs a token, and none was there whose scope covers it",
    remedy:
      "open it for everybody (`ag_ui_classify`, by name, with `classification: display`) or for one session (`POST /v1/capabilities`)",
    opening: {
      policy: `ag_ui_classify: # keep the line for what was blocked
  tools: [{ match: TOOL, classification: display }]
  custom: [{ match: NAME, classification: display }]
  raw: [{ match: SOURCE, classification: display }]
  activities: [{ match: ACTIVITY, classification: display }]
  interrupts: [{ match: REASON, classification: display }]
  state: [{ match: /PATH, classification: display }]`,
    },
  },
  ag_ui_inbound: {
    means: "what the browser says is of a class that it may not send without a token",
    remedy:
      "classify the part (`ag_ui_classify.input`, `state`) as `display`, list forwarded properties by key (`ag_ui_request.forwarded_props.allow`), or hand the session a token",
    opening: {
      policy: `ag_ui_classify: # keep the line for the part that was blocked
  state: [{ match: /PATH, classification: display, direction: inbound }]
  input: { resume: { classification: display }, tool_result: { classification: display } }
ag_ui_request: { forwarded_props: { allow: [KEY] } }`,
    },
  },
  "ag_ui.capability_scopes": {
    means:
      "an entry of `ag_ui.capability_scopes` covers the event, and the token lacks exactly that scope",
    remedy: "issue a token with the scope that the entry names",
    opening: {
      closed:
        "the policy asks for a token with exactly this scope; issue one (`POST /v1/capabilities`) or take the entry out of `ag_ui.capability_scopes`",
    },
  },
  "ag_ui_tools.call": {
    means: "the agent calls a tool, or sends arguments for one, that the policy does not allow",
    remedy:
      "add the name to `ag_ui_tools.call.allow`; look at `require_advertised` and at the schema under `arguments`",
    opening: { policy: "ag_ui_tools: { call: { allow: [TOOL] } }" },
  },
  "ag_ui_tools.quarantine": {
    means:
      "calls on the thread were denied so often that its tools are closed; they open again when the window has passed",
    remedy:
      "look at the calls that were denied before (`countersign receipts list --blocked`); wait for `ag_ui_tools.quarantine.window_seconds`, or change `quarantine` in the policy, which holds from the next run on",
    opening: { policy: "ag_ui_tools: { quarantine: { denials: 100, window_seconds: 60 } }" },
  },
  "ag_ui_tools.declare": {
    means: "the client declares a tool that the policy does not list",
    remedy: "add the name to `ag_ui_tools.declare.allow`",
    opening: { policy: "ag_ui_tools: { declare: { allow: [TOOL] } }" },
  },
  "ag_ui_content.images": {
    means: "a text shows an image of a host that is not listed; loading it could carry data out",
    remedy: "add the host to `ag_ui_content.image_hosts`",
    opening: { policy: "ag_ui_content: { image_hosts: [images.example.org] }" },
  },
  "ag_ui_content.links": {
    means: "a text holds an address that runs code or hides where it leads",
    remedy: "have the agent write plain https addresses, or set `ag_ui_content.links: allow`",
    opening: { policy: "ag_ui_content: { links: allow }" },
  },
  "ag_ui_content.links_in_errors": {
    means: "an error of the agent holds a link, which a page would show as its own",
    remedy:
      "have the agent write errors without addresses, or set `ag_ui_content.links_in_errors: allow`",
    opening: { policy: "ag_ui_content: { links_in_errors: allow }" },
  },
  "ag_ui_content.markup": {
    means: "a text holds active markup, which a page that shows HTML would run",
    remedy: "set `ag_ui_content.markup: allow` if your page shows HTML as text",
    opening: { policy: "ag_ui_content: { markup: allow }" },
  },
  "ag_ui_content.hidden": {
    means: "a text holds characters that a person cannot see and a model can read",
    remedy: "have them removed where the text is made, or set `ag_ui_content.hidden: allow`",
    opening: { policy: "ag_ui_content: { hidden: allow }" },
  },
  "ag_ui_content.words": {
    means: "a text holds a word that the policy never shows",
    remedy: "look at `ag_ui_content.words`",
    opening: { closed: "the policy lists this word itself; take it out of `ag_ui_content.words`" },
  },
  "ag_ui_content.max_characters": {
    means: "a message is longer than the policy allows",
    remedy: "raise `ag_ui_content.max_characters`",
    opening: { policy: "ag_ui_content: { max_characters: 1000000 }" },
  },
  "ag_ui_content.max_event_characters": {
    means: "one event brings more text than the policy reads for an event",
    remedy:
      "have the agent send the text in several events, or raise `ag_ui_content.max_event_characters`",
    opening: { policy: "ag_ui_content: { max_event_characters: 1000000 }" },
  },
  "ag_ui_content.sources": {
    means: "a content part points to an address without a public name",
    remedy: "send the content itself, or a public address",
    opening: { policy: "ag_ui_content: { sources: allow }" },
  },
  "velocity.*": {
    means:
      "more events of a kind in a window of time than a cap of the policy allows, or their number is unknown",
    remedy:
      "wait for the window to pass, or raise the cap under `velocity`; where events cannot be counted, look at the store that receipts.store names",
    opening: {
      closed:
        "the cap is an entry of the policy; raise its maximum or take the entry out of `velocity`",
    },
  },
  "ag_ui_conditions.*": {
    means: "a condition of the policy's own is met, or could not be evaluated",
    remedy:
      "look at the entry of that id under `ag_ui_conditions.rules`; `countersign policy explain --event FILE` shows what it saw",
    opening: {
      closed:
        "the condition is an entry of the policy; change it, set its `mode: observe`, or take it out of `ag_ui_conditions.rules`",
    },
  },
} as const satisfies Readonly<Record<string, RuleMeaning>>;

type Entry = keyof typeof POLICY_RULES;

/** The name of a blocking rule. */
export type PolicyRuleId =
  | Exclude<Entry, `${string}*`>
  | `velocity.${string}`
  | `ag_ui_conditions.${string}`;

const TABLE: ReadonlyMap<string, RuleMeaning> = new Map(Object.entries(POLICY_RULES));

/** The meaning of a policy rule, by its name on a receipt; undefined for an unknown name. */
export function meaningOfPolicyRule(rule: string): RuleMeaning | undefined {
  return TABLE.get(rule) ?? TABLE.get(rule.replace(/^(velocity|ag_ui_conditions)\..+$/s, "$1.*"));
}
