import { ORDER_RULES } from "@countersign/wire/order";
import { STREAM_RULES } from "../vocabulary/stream-rules.js";
import type { JsonSchema } from "./json-schema.js";
import { choice, closed, flag, list, text } from "./json-schema.js";
import { BLOCK_HEADER, MAX_LIST } from "./shared.js";

const SCOPE_PATTERN =
  "^ui:(\\*|display|alert|mutate|create|destroy|navigate|submit):[^:\\s]{1,256}(:[^\\s]{1,256})?$";

const capabilityScope = closed(
  "Ties one scope to events: where an entry covers an event, only a token that carries exactly this scope opens it.",
  {
    scope_id: {
      type: "string",
      description: "`ui:<classification>:<component_type>[:<component_id>]`.",
      pattern: SCOPE_PATTERN,
    },
    allow_event_types: list(
      "The event types the scope opens; absent means all.",
      { $ref: "#/$defs/event_type" },
      64,
    ),
    allow_targets: list(
      "The targets the scope opens; absent means all.",
      { $ref: "#/$defs/target" },
      MAX_LIST,
    ),
  },
  ["scope_id"],
);

/** `ag_ui`: which classes need a capability. */
export const AG_UI: JsonSchema = closed(
  "Which classes of events need a capability. A policy without this block allows nothing.",
  {
    ...BLOCK_HEADER,
    transport: choice("The transport this policy is for; the other one is refused.", [
      "sse",
      "websocket",
      "any",
    ]),
    allow_display_without_capability: flag(
      "Let events of unrestricted classes pass without a capability.",
      false,
    ),
    restricted_classifications: {
      ...list(
        "Classes that need a capability with a matching scope.",
        { $ref: "#/$defs/classification" },
        16,
      ),
      default: ["mutate", "navigate", "create", "destroy", "submit", "alert"],
    },
    max_events_per_second: {
      type: "integer",
      description: "Events per second and connection; an event beyond it ends the run.",
      minimum: 1,
      maximum: 1_000_000,
      default: 10_000,
    },
    capability_scopes: list("Scopes that alone open certain events.", capabilityScope, MAX_LIST),
  },
);

const componentPattern = text("A component type; a trailing `*` matches any ending.");
const idPattern: JsonSchema = {
  type: "string",
  description: "`type:id`; a trailing `*` matches any ending, `type:*` also a missing id.",
  pattern: "^[^:\\s]{1,256}:[^\\s]{1,256}$",
};

/** `ag_ui_components`: the parts of the user interface that an agent may use. */
export const AG_UI_COMPONENTS: JsonSchema = closed(
  "Which parts of the screen an agent may touch, whatever the class. Both lists must let an event through.",
  {
    ...BLOCK_HEADER,
    allow_components: list("Component types an event may target.", componentPattern, MAX_LIST),
    allow_ids: list("Instances an event may target.", idPattern, MAX_LIST),
    block_components: list("Component types no event may target.", componentPattern, MAX_LIST),
    block_ids: list("Instances no event may target.", idPattern, MAX_LIST),
    default: { $ref: "#/$defs/default_action" },
  },
);

/** `ag_ui_inbound`: the events that a browser may send. */
export const AG_UI_INBOUND: JsonSchema = closed(
  "The classes that a client may send to the agent. Another class needs the client's own capability.",
  {
    ...BLOCK_HEADER,
    default: { $ref: "#/$defs/default_action" },
    allow_classifications: list(
      "Classes a client may send without a capability.",
      { $ref: "#/$defs/classification" },
      16,
    ),
  },
);

/** `ag_ui_order`: the action for a violation of the protocol's order. */
export const AG_UI_ORDER: JsonSchema = closed(
  "The action for an event that breaks the order of the protocol.",
  {
    ...BLOCK_HEADER,
    on_error: { $ref: "#/$defs/default_action" },
    on_warning: { $ref: "#/$defs/default_action" },
    // Closed, not open: a misspelt rule that should block would otherwise let its events pass.
    rules: closed(
      "One rule of the run automaton by its name; wins over the two defaults.",
      Object.fromEntries(
        Object.keys({ ...ORDER_RULES, ...STREAM_RULES }).map((rule) => [
          rule,
          { $ref: "#/$defs/default_action" },
        ]),
      ),
    ),
  },
);

const unknown = (description: string): JsonSchema =>
  choice(
    `${description} block: it is withheld. observe: it is shown, and its receipt says so. allow: it is shown.`,
    ["block", "observe", "allow"],
  );

/** `ag_ui_messages`: the foreign messages that an agent's message list may contain. */
export const AG_UI_MESSAGES: JsonSchema = closed(
  "Messages in a list of the agent (MESSAGES_SNAPSHOT, RUN_STARTED.input) that are not the agent's own. What the request or the thread knows passes as it was said.",
  {
    ...BLOCK_HEADER,
    lists: choice(
      "How a list itself is judged, beside every message that it brings. whole: it is mutate on the chat. parts: one that repeats what the client has and only adds behind it is display; one that takes away, changes, moves or puts in between is mutate. open: every list is display.",
      ["whole", "parts", "open"],
    ),
    unknown_user: unknown("A message of the person that was not sent on the thread."),
    unknown_system: unknown(
      "The same in the role of `system` or `developer`: frameworks list their own prompt.",
    ),
  },
);

/** `ag_ui_evidence`: what the evidence store of a gateway may keep. It decides about no event. */
export const AG_UI_EVIDENCE: JsonSchema = closed(
  "The parts of payloads that a gateway with an evidence store may keep. Without this block it keeps them as they were.",
  {
    enabled: flag("Whether the block counts at all.", true),
    redact: list(
      "Names of members whose values are removed from the copy, at any depth, in JSON inside texts too; `*` matches any run of characters, upper and lower case are equal.",
      text("A name, such as `password` or `*token*`.", 256),
      1000,
    ),
    never: list("Events of which no copy is kept.", { $ref: "#/$defs/event_match" }, 1000),
  },
);

const positive = (description: string): JsonSchema => ({
  type: "integer",
  description,
  minimum: 1,
  maximum: 1_000_000_000,
});

const velocityRule = closed(
  "A cap over a window of time, in the guide's spelling or in Chio's; one rule uses one of them.",
  {
    ...BLOCK_HEADER,
    id: text("A name for this cap in reasons and metrics.", 64),
    scope: choice("The scope of the cap.", ["session", "agent", "capability", "connection"]),
    match: { $ref: "#/$defs/event_match" },
    max_invocations: positive("Events allowed in the window."),
    window_seconds: { ...positive("Length of the sliding window."), maximum: 86_400 },
    max_invocations_per_window: positive("Chio: events per capability in the window."),
    max_spend_per_window: { type: "number", description: "Chio: no effect here.", minimum: 0 },
    max_requests_per_agent: positive("Chio: events per agent in the window."),
    max_requests_per_session: positive("Chio: events per session in the window."),
    window_secs: { ...positive("Chio: length of the window, 60 by default."), maximum: 86_400 },
    burst_factor: {
      type: "number",
      description: "Chio: how far above the rate a burst may go.",
      minimum: 1,
      maximum: 1000,
    },
  },
);

/** `velocity`: caps over windows; one rule or a list of them. */
export const VELOCITY: JsonSchema = {
  description: "Caps over windows of time: one rule, or a list of rules.",
  oneOf: [velocityRule, { type: "array", items: velocityRule, maxItems: 32 }],
};
