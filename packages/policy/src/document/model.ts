import type { JsonObject, JsonValue } from "@countersign/core";
import type { Classification } from "../vocabulary/classification.js";
import type { ContentPart } from "../vocabulary/content-part.js";
import type { Target } from "../vocabulary/target.js";
import type { InputPart } from "../vocabulary/input-part.js";

/** Whether a rule blocks, or only says what it would have blocked. */
export type PolicyMode = "observe" | "enforce";

/** What the client sees of a block: nothing, a notice, or the end of the run. */
export type OnBlock = "drop" | "notice" | "end";

/** What a list says about everything it does not name. */
export type DefaultAction = "allow" | "block";

/** What every AG-UI block may say about itself. */
export type BlockHeader = { enabled?: boolean; mode?: PolicyMode; on_block?: OnBlock };

/** One scope that alone opens certain events. */
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

/** `rules.ag_ui_components`: which parts of the screen an agent may touch. */
export type ComponentsBlock = BlockHeader & {
  allow_components?: string[];
  allow_ids?: string[];
  block_components?: string[];
  block_ids?: string[];
  default?: DefaultAction;
};

/** `rules.ag_ui_inbound`: what may come back from the browser. */
export type InboundBlock = BlockHeader & {
  default?: DefaultAction;
  allow_classifications?: Classification[];
};

/** What one refinement says, without the name it is for. */
export type InputClassify = {
  event_type?: string;
  classification?: Classification;
  target?: Target;
};

/** A refinement for names (or state paths) that match a glob. */
export type ClassifyEntry = InputClassify & { match: string };

/** A path of the state; without a direction, whoever changes it. */
export type StateClassify = ClassifyEntry & { direction?: "outbound" | "inbound" };

/** `rules.ag_ui_classify`: the policy's additions to the classification table. */
export type ClassifyBlock = {
  enabled?: boolean;
  chat?: Target;
  tools?: ClassifyEntry[];
  custom?: ClassifyEntry[];
  raw?: ClassifyEntry[];
  activities?: ClassifyEntry[];
  interrupts?: ClassifyEntry[];
  state?: StateClassify[];
  input?: Partial<Record<InputPart, InputClassify>>;
};

/** Which events a rule looks at; every given field must fit. */
export type EventMatch = {
  event_type?: string;
  classification?: Classification;
  component_type?: string;
  component_id?: string;
  direction?: "outbound" | "inbound";
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

/** `rules.ag_ui_conditions`: conditions in CEL over the event and its surroundings. */
export type ConditionsBlock = BlockHeader & { rules?: ConditionRule[] };

/** Names allowed and blocked; a blocked name wins. */
export type NameLists = { allow?: string[]; block?: string[]; default?: DefaultAction };

/** `rules.ag_ui_tools`: which tools may be called or declared, and with which arguments. */
export type ToolsBlock = BlockHeader & {
  call?: NameLists;
  declare?: NameLists;
  require_advertised?: boolean;
  allow_agent_results?: boolean;
  arguments?: { [tool: string]: JsonValue };
  quarantine?: ToolQuarantine;
};

/** After so many denied calls in a window of time, a thread's tools are closed. */
export type ToolQuarantine = { denials: number; window_seconds: number; closes?: string[] };

/** `rules.ag_ui_content`: what text may not carry; each key blocks unless it says allow. */
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

/** `rules.ag_ui_order`: what a violation of the protocol's order does. */
export type OrderBlock = BlockHeader & {
  on_error?: DefaultAction;
  on_warning?: DefaultAction;
  rules?: { [rule: string]: DefaultAction };
};

/** What becomes of a message that nobody knows. */
export type UnknownAction = "block" | "observe" | "allow";

/** How a message list is judged: as a change of the chat, by what it changes, or by its messages alone. */
export type ListJudgement = "whole" | "parts" | "open";

/** `rules.ag_ui_messages`: what an agent's message list may bring that is not the agent's. */
export type MessagesBlock = BlockHeader & {
  lists?: ListJudgement;
  unknown_user?: UnknownAction;
  unknown_system?: UnknownAction;
};

/** One check of `ag_ui_request`; its mode wins over the block's. */
export type RequestCheck = { mode?: PolicyMode };

/** `rules.ag_ui_request`: what a browser may say when it asks for a run. */
export type RequestBlock = BlockHeader & {
  unknown_keys?: RequestCheck & { action?: "strip" | "refuse" };
  threads?: RequestCheck;
  runs?: RequestCheck;
  history?: RequestCheck & {
    accept?: "any" | "full" | "tail";
    new_roles?: ("user" | "tool" | "system" | "developer")[];
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
};

/** A cap over a window, in the guide's spelling or in Chio's; a rule uses one of them. */
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

/** The blocks of a policy. Blocks that are not about AG-UI are kept as they are and have no effect. */
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
  velocity?: VelocityRule | VelocityRule[];
  [other: string]: unknown;
};

/** A policy after reading, resolving `extends` and merging: what is compiled and hashed. */
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

/** Whether a document has a block about AG-UI at all; `velocity` alone may be about something else. */
export function speaksAboutAgUi(rules: PolicyRules): boolean {
  return Object.keys(rules).some((block) => block.startsWith("ag_ui"));
}
