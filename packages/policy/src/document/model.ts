import type { Direction, JsonObject, JsonValue, PolicyMode } from "@countersign/core";
import type { Classification } from "../vocabulary/classification.js";
import type { ContentPart } from "../vocabulary/content-part.js";
import type { Target } from "../vocabulary/target.js";
import type { InputPart } from "../vocabulary/input-part.js";

export type { PolicyMode } from "@countersign/core";

/** The client's view of a block: nothing, a notice, or the end of the run. */
export type OnBlock = "drop" | "notice" | "end";

/** The action for names that a list does not contain. */
export type DefaultAction = "allow" | "block";

/** Settings that every AG-UI block may have. */
export type BlockHeader = { enabled?: boolean; mode?: PolicyMode; on_block?: OnBlock };

/** One scope that alone allows certain events. */
export type CapabilityScope = {
  scope_id: string;
  allow_event_types?: string[];
  allow_targets?: Target[];
};

/** `rules.ag_ui`: the classes that need a capability. Without it a policy allows nothing. */
export type AgUiBlock = BlockHeader & {
  transport?: "sse" | "websocket" | "any";
  allow_display_without_capability?: boolean;
  restricted_classifications?: Classification[];
  max_events_per_second?: number;
  capability_scopes?: CapabilityScope[];
};

/** `rules.ag_ui_components`: the parts of the user interface that an agent may use. */
export type ComponentsBlock = BlockHeader & {
  allow_components?: string[];
  allow_ids?: string[];
  block_components?: string[];
  block_ids?: string[];
  default?: DefaultAction;
};

/** `rules.ag_ui_inbound`: the events that a browser may send. */
export type InboundBlock = BlockHeader & {
  default?: DefaultAction;
  allow_classifications?: Classification[];
};

/** The content of one refinement, without its name. */
export type InputClassify = {
  event_type?: string;
  classification?: Classification;
  target?: Target;
};

/** A refinement for names (or state paths) that match a glob. */
export type ClassifyEntry = InputClassify & { match: string };

/** A state path; without a direction, for changes of both sides. */
export type StateClassify = ClassifyEntry & { direction?: Direction };

/** `rules.ag_ui_classify`: the policy's additions to the classification table. */
export type ClassifyBlock = {
  enabled?: boolean;
  chat?: Target;
  tools?: ClassifyEntry[];
  custom?: ClassifyEntry[];
  raw?: ClassifyEntry[];
  activities?: ClassifyEntry[];
  interrupts?: ClassifyEntry[];
  components?: ClassifyEntry[];
  state?: StateClassify[];
  input?: Partial<Record<InputPart, InputClassify>>;
};

/** The events of a rule; every given field must match. */
export type EventMatch = {
  event_type?: string;
  classification?: Classification;
  component_type?: string;
  component_id?: string;
  direction?: Direction;
  tool?: string;
};

/** One CEL condition. */
export type ConditionRule = {
  id: string;
  match?: EventMatch;
  when: string;
  effect?: DefaultAction;
  reason?: string;
  mode?: PolicyMode;
  on_block?: OnBlock;
};

/** `rules.ag_ui_conditions`: conditions in CEL over the event and its context. */
export type ConditionsBlock = BlockHeader & { rules?: ConditionRule[] };

/** Allowed and blocked names; block wins. */
export type NameLists = { allow?: string[]; block?: string[]; default?: DefaultAction };

/** `rules.ag_ui_tools`: the tools that may be called or declared, and their arguments. */
export type ToolsBlock = BlockHeader & {
  call?: NameLists;
  declare?: NameLists;
  require_advertised?: boolean;
  allow_agent_results?: boolean;
  arguments?: { [tool: string]: JsonValue };
  quarantine?: ToolQuarantine;
};

/** After this many denied calls within a time window, a thread's tools are closed. */
export type ToolQuarantine = { denials: number; window_seconds: number; closes?: string[] };

/**
 * `rules.ag_ui_content`: the content that text may not contain; each key blocks unless it is set to
 * allow.
 */
export type ContentBlock = BlockHeader & {
  images?: DefaultAction;
  image_hosts?: string[];
  links?: DefaultAction;
  links_in_errors?: DefaultAction;
  markup?: DefaultAction;
  hidden?: DefaultAction;
  sources?: DefaultAction | "resolve";
  words?: string[];
  max_characters?: number;
  max_event_characters?: number;
  read?: ContentPart[];
  text_appears?: "letter_by_letter" | "event_by_event";
};

/** `rules.ag_ui_order`: the action for a violation of the protocol's order. */
export type OrderBlock = BlockHeader & {
  on_error?: DefaultAction;
  on_warning?: DefaultAction;
  rules?: { [rule: string]: DefaultAction };
};

/** The action for an unknown message. */
export type UnknownAction = "block" | "observe" | "allow";

/**
 * How a message list is evaluated: as a change of the chat, by its changes, or by its messages
 * alone.
 */
export type ListJudgement = "whole" | "parts" | "open";

/** `rules.ag_ui_messages`: the foreign messages that an agent's message list may contain. */
export type MessagesBlock = BlockHeader & {
  lists?: ListJudgement;
  unknown_user?: UnknownAction;
  unknown_system?: UnknownAction;
};

/** One check of `ag_ui_request`; its mode overrides the block's. */
export type RequestCheck = { mode?: PolicyMode };

/** `rules.ag_ui_request`: the content that a browser's request may have. */
export type RequestBlock = BlockHeader & {
  unknown_keys?: RequestCheck & { action?: "strip" | "refuse" };
  threads?: RequestCheck;
  runs?: RequestCheck;
  history?: RequestCheck & {
    accept?: "any" | "full" | "tail";
    new_roles?: ("user" | "tool" | "system" | "developer")[];
    greeting?: "refuse" | "accept";
    rollback?: boolean;
    unfinished?: "accept" | "refuse";
    interleaved?: "accept" | "refuse";
  };
  tool_results?: RequestCheck;
  resume?: RequestCheck;
  approval?: RequestCheck;
  tools?: RequestCheck & { pinned?: { [tool: string]: string }; server_tools?: string[] };
  state?: RequestCheck & { max_bytes?: number; keys?: string[] };
  context?: RequestCheck & { max_entries?: number; max_bytes?: number; descriptions?: string[] };
  forwarded_props?: RequestCheck & { allow?: string[]; max_bytes?: number };
  actions?: RequestCheck & { accept?: "shown" | "any"; repeat?: string[] };
};

/** `rules.ag_ui_evidence`: what the evidence store of a gateway may keep of payloads. */
export type EvidenceBlock = { enabled?: boolean; redact?: string[]; never?: EventMatch[] };

/** One A2UI catalogue that an agent may draw with. */
export type CatalogueEntry = {
  id: string;
  /** Component names, with `*`; without it those of the basic catalogue. */
  components?: string[];
  /** Function names, with `*`; without it those of the basic catalogue. */
  functions?: string[];
  /** A JSON Schema for the properties of a component, by its name. */
  schemas?: { [component: string]: JsonValue };
  /** SHA-256 (hex) of the catalogue that a browser may send with its request. */
  hash?: string;
};

/** `rules.ag_ui_surfaces`: what agents may draw. Its defaults also apply without the block. */
export type SurfacesBlock = BlockHeader & {
  rendering_tools?: string[];
  rendering_activities?: string[];
  catalogues?: CatalogueEntry[];
  overrides?: DefaultAction;
  block_functions?: string[];
  agent_calls?: string[];
  agent_functions?: string[];
  urls?: {
    schemes?: string[];
    hosts?: string[];
    relative?: DefaultAction;
    unknown?: DefaultAction;
    max_length?: number;
  };
  inputs?: { sensitive?: DefaultAction; words?: string[] };
  labels?: { contradiction?: DefaultAction };
  send_data_model?: DefaultAction;
  limits?: {
    surfaces?: number;
    components?: number;
    depth?: number;
    text_length?: number;
    html_length?: number;
  };
};

/** One tool that MCP Apps may call. */
export type AppTool = {
  name: string;
  visibility?: ("app" | "model")[];
  arguments?: JsonValue;
};

/** `rules.ag_ui_apps`: MCP Apps and sandboxed HTML. Its defaults also apply without the block. */
export type AppsBlock = BlockHeader & {
  servers?: string[];
  resources?: { uri: string; sha256?: string }[];
  tools?: AppTool[];
  methods?: string[];
  csp?: { connect?: string[]; resource?: string[]; frame?: string[]; base?: string[] };
  permissions?: string[];
  sandboxed_html?: DefaultAction;
  html?: { max_bytes?: number; forms?: DefaultAction; scripts?: DefaultAction };
};

/** A cap over a window, with the guide's keys or Chio's; a rule uses one of them. */
export type VelocityRule = BlockHeader & {
  id?: string;
  scope?: "session" | "agent" | "capability" | "connection";
  match?: EventMatch;
  max_invocations?: number;
  window_seconds?: number;
  max_invocations_per_window?: number;
  max_spend_per_window?: number;
  max_requests_per_agent?: number;
  max_requests_per_session?: number;
  window_secs?: number;
  burst_factor?: number;
};

/**
 * The blocks of a policy. Blocks that are not about AG-UI are kept unchanged and have no effect.
 */
export type PolicyRules = {
  ag_ui?: AgUiBlock;
  ag_ui_components?: ComponentsBlock;
  ag_ui_inbound?: InboundBlock;
  ag_ui_classify?: ClassifyBlock;
  ag_ui_conditions?: ConditionsBlock;
  ag_ui_tools?: ToolsBlock;
  ag_ui_content?: ContentBlock;
  ag_ui_order?: OrderBlock;
  ag_ui_messages?: MessagesBlock;
  ag_ui_request?: RequestBlock;
  ag_ui_evidence?: EvidenceBlock;
  ag_ui_surfaces?: SurfacesBlock;
  ag_ui_apps?: AppsBlock;
  velocity?: VelocityRule | VelocityRule[];
  [other: string]: unknown;
};

/** A policy after reading, resolving `extends` and merging: it is compiled and hashed. */
export type PolicyDocument = {
  hushspec: string;
  name?: string;
  description?: string;
  mode?: PolicyMode;
  on_block?: OnBlock;
  rules: PolicyRules;
  extensions?: JsonObject;
  metadata?: JsonObject;
};

/** Whether a document has an AG-UI block; `velocity` alone may be about something else. */
export function hasAgUiBlock(rules: PolicyRules): boolean {
  return Object.keys(rules).some((block) => block.startsWith("ag_ui"));
}
