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
    means:
      "the policy has no enabled `ag_ui` block, or could not be evaluated, so the gateway allows nothing",
    remedy: "add an `ag_ui` block to the policy; `countersign policy check` validates it",
    opening: { policy: "ag_ui: { allow_display_without_capability: true }" },
  },
  "ag_ui.transport": {
    means: "the client uses another transport than the policy allows",
    remedy: "connect over the transport that `ag_ui.transport` names, or set it to `any`",
    opening: { policy: "ag_ui: { transport: any }" },
  },
  ag_ui_order: {
    means: "an event breaks the order that the AG-UI specification requires",
    remedy:
      "fix the agent (`countersign doctor` shows the event), or allow the rule by name: `ag_ui_order: { rules: { RULE: allow } }`",
    opening: { policy: "ag_ui_order: { rules: { run/finish-ids: allow } }" },
  },
  "ag_ui_messages.unknown_user": {
    means:
      "a message list of the agent contains a `user` message that the gateway did not receive from the client on this thread",
    remedy:
      "change the agent to repeat messages with their ids; if the thread started without this gateway, set `ag_ui_messages: { unknown_user: allow }`, or `observe` to forward and record such messages",
    opening: { policy: "ag_ui_messages: { unknown_user: allow }" },
  },
  "ag_ui_messages.unknown_system": {
    means:
      "a message list of the agent contains a `system` or `developer` message that the client did not send on this thread, usually the framework's own prompt",
    remedy:
      "change the agent to leave its prompt out of the list; if users may read it, set `ag_ui_messages: { unknown_system: allow }`",
    opening: { policy: "ag_ui_messages: { unknown_system: allow }" },
  },
  "ag_ui.max_events_per_second": {
    means: "the connection exceeded the number of events per second that the policy allows",
    remedy: "send fewer, larger deltas, or raise `ag_ui.max_events_per_second`",
    opening: { policy: "ag_ui: { max_events_per_second: 50000 }" },
  },
  "ag_ui.classification": {
    means: "an event states a lower class than the gateway derives from its content",
    remedy: "remove the class from the event: the gateway derives it from the content",
    opening: {
      closed:
        "an agent that may lower the class of its events can choose which rules apply to them",
    },
  },
  ag_ui_components: {
    means: "the event targets a component that the policy does not allow",
    remedy:
      "add the component to `ag_ui_components.allow_components`; an event that creates the component also needs its class allowed (`ag_ui_classify`)",
    opening: { policy: "ag_ui_components: { allow_components: [COMPONENT] }" },
  },
  "ag_ui.capability": {
    means:
      "an event of this class needs a capability token, and the session has no token whose scope covers it",
    remedy:
      "allow it for every session (`ag_ui_classify`, by name, with `classification: display`) or for one session (`POST /v1/capabilities`)",
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
    means:
      "the request has a part of a class that a client may not send without a capability token",
    remedy:
      "classify the part (`ag_ui_classify.input`, `state`) as `display`, list forwarded properties by key (`ag_ui_request.forwarded_props.allow`), or issue a token for the session",
    opening: {
      policy: `ag_ui_classify: # keep the line for the part that was blocked
  state: [{ match: /PATH, classification: display, direction: inbound }]
  input: { resume: { classification: display }, tool_result: { classification: display } }
ag_ui_request: { forwarded_props: { allow: [KEY] } }`,
    },
  },
  "ag_ui.capability_scopes": {
    means:
      "an entry of `ag_ui.capability_scopes` covers the event, and the token does not have exactly that scope",
    remedy: "issue a token with the scope that the entry names",
    opening: {
      closed:
        "the policy requires a token with exactly this scope; issue one (`POST /v1/capabilities`) or remove the entry from `ag_ui.capability_scopes`",
    },
  },
  "ag_ui_tools.call": {
    means: "the agent calls a tool, or sends tool arguments, that the policy does not allow",
    remedy:
      "add the name to `ag_ui_tools.call.allow`; check `require_advertised` and the schema under `arguments`",
    opening: { policy: "ag_ui_tools: { call: { allow: [TOOL] } }" },
  },
  "ag_ui_tools.quarantine": {
    means:
      "the gateway blocked so many tool calls on the thread that it blocks all of them until the window has passed",
    remedy:
      "check the blocked calls (`countersign receipts list --blocked`); wait for `ag_ui_tools.quarantine.window_seconds`, or change `quarantine` in the policy, which applies from the next run",
    opening: { policy: "ag_ui_tools: { quarantine: { denials: 100, window_seconds: 60 } }" },
  },
  "ag_ui_tools.declare": {
    means: "the client declares a tool that the policy does not list",
    remedy: "add the name to `ag_ui_tools.declare.allow`",
    opening: { policy: "ag_ui_tools: { declare: { allow: [TOOL] } }" },
  },
  "ag_ui_content.images": {
    means:
      "a text contains an image of a host that the policy does not list; loading it could leak data",
    remedy: "add the host to `ag_ui_content.image_hosts`",
    opening: { policy: "ag_ui_content: { image_hosts: [images.example.org] }" },
  },
  "ag_ui_content.links": {
    means: "a text contains a link that runs code or hides its destination",
    remedy: "change the agent to write plain https links, or set `ag_ui_content.links: allow`",
    opening: { policy: "ag_ui_content: { links: allow }" },
  },
  "ag_ui_content.links_in_errors": {
    means:
      "an error message of the agent contains a link, and users take an error message for one of the application",
    remedy:
      "change the agent to write errors without links, or set `ag_ui_content.links_in_errors: allow`",
    opening: { policy: "ag_ui_content: { links_in_errors: allow }" },
  },
  "ag_ui_content.markup": {
    means: "a text contains active markup, which a page that renders HTML would run",
    remedy: "set `ag_ui_content.markup: allow` if your page displays HTML as text",
    opening: { policy: "ag_ui_content: { markup: allow }" },
  },
  "ag_ui_content.hidden": {
    means: "a text contains invisible characters that a model can read",
    remedy: "remove the characters in the agent, or set `ag_ui_content.hidden: allow`",
    opening: { policy: "ag_ui_content: { hidden: allow }" },
  },
  "ag_ui_content.words": {
    means: "a text contains a word that the policy blocks",
    remedy: "change the text, or remove the word from `ag_ui_content.words`",
    opening: { closed: "the policy lists this word; remove it from `ag_ui_content.words`" },
  },
  "ag_ui_content.max_characters": {
    means: "a message is longer than the policy allows",
    remedy: "raise `ag_ui_content.max_characters`",
    opening: { policy: "ag_ui_content: { max_characters: 1000000 }" },
  },
  "ag_ui_content.max_event_characters": {
    means: "one event contains more text than the policy allows per event",
    remedy:
      "change the agent to send the text in several events, or raise `ag_ui_content.max_event_characters`",
    opening: { policy: "ag_ui_content: { max_event_characters: 1000000 }" },
  },
  "ag_ui_content.sources": {
    means: "a content part refers to an address without a public host name",
    remedy: "send the content itself, or a public address",
    opening: { policy: "ag_ui_content: { sources: allow }" },
  },
  "ag_ui_surfaces.undecided": {
    means:
      "a surface cannot be resolved with certainty: it is not well formed, is over a limit, or changes what another message drew",
    remedy:
      "fix the agent: `countersign policy explain --event FILE` names the problem and its place; for a limit, raise `ag_ui_surfaces.limits`",
    opening: {
      closed:
        "the gateway does not know what a person would see, so no rule could judge it; fix the agent, or raise `ag_ui_surfaces.limits` where a limit is named",
    },
  },
  "ag_ui_surfaces.catalogues": {
    means:
      "a surface or a component uses a catalogue that the policy does not list, or a client sends a catalogue without a pinned hash",
    remedy:
      "add the catalogue to `ag_ui_surfaces.catalogues`; for a catalogue that the client sends, also its `hash`",
    opening: {
      policy:
        "ag_ui_surfaces: { catalogues: [{ id: https://a2ui.org/specification/v0_9/basic_catalog.json }] }",
    },
  },
  "ag_ui_surfaces.components": {
    means: "a component is not on the list of its catalogue",
    remedy:
      "add its name to `components` of the entry in `ag_ui_surfaces.catalogues`; the list replaces that of the basic catalogue, so repeat the components that you use",
    opening: {
      policy:
        "ag_ui_surfaces: { catalogues: [{ id: CATALOGUE, components: [Text, Button, COMPONENT] }] } # in the entry that is there, with every component you use",
    },
  },
  "ag_ui_surfaces.props": {
    means: "the properties of a component do not fit the schema that the policy has for it",
    remedy: "change the agent, or the schema under `schemas` of the catalogue",
    opening: {
      closed: "the schema is an entry of the policy; change it in `ag_ui_surfaces.catalogues`",
    },
  },
  "ag_ui_surfaces.functions": {
    means: "a component, an agent or a page calls a function that the policy does not list",
    remedy:
      "add it to `functions` of its catalogue, to `agent_calls` (agent to page) or to `agent_functions` (page to agent)",
    opening: {
      policy: "ag_ui_surfaces: { agent_calls: [FUNCTION], agent_functions: [FUNCTION] }",
    },
  },
  "ag_ui_surfaces.urls": {
    means:
      "a component loads or opens a URL whose host or scheme the policy does not list, or that is not known before a person types",
    remedy: "add the host to `ag_ui_surfaces.urls.hosts`",
    opening: { policy: "ag_ui_surfaces: { urls: { hosts: [www.example.org] } }" },
  },
  "ag_ui_surfaces.inputs": {
    means: "an input asks for a password, a card, a code or a similar secret",
    remedy:
      "ask for secrets on a page of your own; if an agent may ask, set `ag_ui_surfaces.inputs.sensitive: allow`",
    opening: { policy: "ag_ui_surfaces: { inputs: { sensitive: allow } }" },
  },
  "ag_ui_surfaces.labels": {
    means:
      "a component says something harmless and its action does something else, or a screen reader gets the opposite of the text",
    remedy:
      "change the agent to label the action with what it does, or set `ag_ui_surfaces.labels.contradiction: allow`",
    opening: { policy: "ag_ui_surfaces: { labels: { contradiction: allow } }" },
  },
  "ag_ui_surfaces.send_data_model": {
    means: "a surface has the page send its whole data model to the agent with every message",
    remedy:
      "remove `sendDataModel` from the surface, or set `ag_ui_surfaces.send_data_model: allow`",
    opening: { policy: "ag_ui_surfaces: { send_data_model: allow }" },
  },
  "ag_ui_surfaces.clicks": {
    means:
      "a request claims a click on a component that the thread does not show, with an action that it does not have, or a second time",
    remedy:
      "reload the conversation and click again; if the thread started without this gateway, start a new one",
    opening: {
      closed:
        "a client that may claim any click can start any action of the agent; only clicks on what the thread shows pass",
    },
  },
  "ag_ui_apps.servers": {
    means: "an MCP App is of a server that the policy does not list",
    remedy: "add its `serverId` and its `serverHash` to `ag_ui_apps.servers`",
    opening: { policy: "ag_ui_apps: { servers: [SERVER] }" },
  },
  "ag_ui_apps.resources": {
    means: "an MCP App has a `ui://` resource, or HTML with a hash, that the policy does not list",
    remedy: "add the resource to `ag_ui_apps.resources`, or update its `sha256`",
    opening: { policy: "ag_ui_apps: { resources: [{ uri: ui://SERVER/VIEW }] }" },
  },
  "ag_ui_apps.csp": {
    means:
      "an MCP App asks for a domain that the policy does not list, or that is not a plain name",
    remedy: "add the domain to `connect`, `resource`, `frame` or `base` of `ag_ui_apps.csp`",
    opening: { policy: "ag_ui_apps: { csp: { connect: [api.example.org] } }" },
  },
  "ag_ui_apps.permissions": {
    means: "an MCP App asks for a permission that the policy does not list",
    remedy: "add the permission to `ag_ui_apps.permissions`",
    opening: { policy: "ag_ui_apps: { permissions: [clipboardWrite] }" },
  },
  "ag_ui_apps.html": {
    means: "an agent shows HTML that it wrote, or HTML with a form, a script or too many bytes",
    remedy:
      "draw with A2UI instead, or set `ag_ui_apps.sandboxed_html: allow` and the limits under `html`",
    opening: { policy: "ag_ui_apps: { sandboxed_html: allow }" },
  },
  "ag_ui_apps.requests": {
    means:
      "an MCP App calls a server, method, tool or resource that the thread does not show or the policy does not list",
    remedy:
      "add the tool to `ag_ui_apps.tools`, the method to `methods` and the resource to `resources`; a server must be that of an app on the screen",
    opening: { policy: "ag_ui_apps: { tools: [{ name: TOOL }] }" },
  },
  "velocity.*": {
    means:
      "more events of one kind in a time window than a `velocity` limit allows, or the gateway could not count them",
    remedy:
      "wait until the window has passed, or raise the limit under `velocity`; if events cannot be counted, check the store that receipts.store names",
    opening: {
      closed:
        "the limit is an entry of the policy; raise its maximum or remove the entry from `velocity`",
    },
  },
  "ag_ui_conditions.*": {
    means: "a condition of the policy is true for the event, or could not be evaluated",
    remedy:
      "check the entry with that id under `ag_ui_conditions.rules`; `countersign policy explain --event FILE` shows the values that it reads",
    opening: {
      closed:
        "the condition is an entry of the policy; change it, set its `mode: observe`, or remove it from `ag_ui_conditions.rules`",
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
