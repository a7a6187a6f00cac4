import { EVENT_TYPES } from "@countersign/wire";

/** The entry that joins the deltas of a run into whole texts; not protocol traffic. */
export const ACCUMULATED_RESPONSE = "_accumulated_response";
/** One text message of a run, its deltas joined. */
export const ACCUMULATED_MESSAGE = "_accumulated_message";
/** One reasoning message of a run, its deltas joined. */
export const ACCUMULATED_REASONING = "_accumulated_reasoning";
/** One tool call of a run, its arguments joined and parsed. */
export const ACCUMULATED_TOOL_CALL = "_accumulated_tool_call";
/** One activity of a run, its patches applied. */
export const ACCUMULATED_ACTIVITY = "_accumulated_activity";

/** The state of a run, its patches applied. */
export const ACCUMULATED_STATE = "_accumulated_state";

/** The events whose pieces each joined entry puts together. */
const JOINED: ReadonlyMap<string, RegExp | undefined> = new Map([
  [ACCUMULATED_RESPONSE, undefined],
  [ACCUMULATED_MESSAGE, /^text_message_(start|content|end|chunk)$/],
  [
    ACCUMULATED_REASONING,
    /^(reasoning_message_(start|content|end|chunk)|thinking_text_message_(start|content|end))$/,
  ],
  [ACCUMULATED_TOOL_CALL, /^tool_call_(start|args|end|chunk)$/],
  [ACCUMULATED_ACTIVITY, /^activity_(snapshot|delta)$/],
  [ACCUMULATED_STATE, /^state_(snapshot|delta)$/],
]);

/** Whether an entry of a trace was joined by the runner; such entries are not protocol traffic. */
export function isJoined(event: string): boolean {
  return JOINED.has(event);
}

/** Whether a joined entry puts together events of this name, so that indicators for them see it as well. */
export function isJoinedInto(joined: string, event: string): boolean {
  return JOINED.get(joined)?.test(event) === true;
}

const AG_UI = [
  "run_agent_input",
  ...EVENT_TYPES.map((type) => type.toLowerCase()),
  // Streams of AG-UI before 1.0.
  "thinking_start",
  "thinking_end",
  "thinking_text_message_start",
  "thinking_text_message_content",
  "thinking_text_message_end",
];

const MCP_BOTH = [
  "ping",
  "tasks/get",
  "tasks/result",
  "tasks/list",
  "tasks/cancel",
  "notifications/cancelled",
  "notifications/progress",
  "notifications/tasks/status",
];
const MCP_REQUESTS = [
  "initialize",
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/read",
  "resources/templates/list",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "logging/setLevel",
  "completion/complete",
];
const MCP_FROM_CLIENT = ["notifications/initialized", "notifications/roots/list_changed"];
const MCP_FROM_SERVER = [
  "sampling/createMessage",
  "elicitation/create",
  "roots/list",
  "notifications/message",
  "notifications/tools/list_changed",
  "notifications/resources/list_changed",
  "notifications/resources/updated",
  "notifications/prompts/list_changed",
  "notifications/elicitation/complete",
];
const A2A = [
  "message/send",
  "message/stream",
  "tasks/get",
  "tasks/list",
  "tasks/cancel",
  "tasks/resubscribe",
  ...["set", "get", "list", "delete"].map((verb) => `tasks/pushNotificationConfig/${verb}`),
  "agent/getAuthenticatedExtendedCard",
  "agent_card/get",
];
const A2A_TO_CLIENT = ["task/status", "task/artifact"];

/**
 * The traffic that an actor of each mode receives: a server receives requests; a client receives responses
 * and the server's own requests.
 */
const EVENTS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["ag_ui_client", new Set(AG_UI)],
  ["mcp_server", new Set([...MCP_BOTH, ...MCP_REQUESTS, ...MCP_FROM_CLIENT])],
  ["mcp_client", new Set([...MCP_BOTH, ...MCP_REQUESTS, ...MCP_FROM_SERVER])],
  ["a2a_server", new Set(A2A)],
  ["a2a_client", new Set([...A2A, ...A2A_TO_CLIENT])],
]);

const SURFACES: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["ag_ui", new Set([...AG_UI, ...JOINED.keys()])],
  ["mcp", new Set([...MCP_BOTH, ...MCP_REQUESTS, ...MCP_FROM_CLIENT, ...MCP_FROM_SERVER])],
  ["a2a", new Set([...A2A, ...A2A_TO_CLIENT])],
]);

/** Names that older documents use, with the event that carries the same thing today. */
const LEGACY_SURFACES: ReadonlyMap<string, string> = new Map([
  ["message_history", "run_agent_input"],
  ["tool_definition", "run_agent_input"],
  ["tool_result", "tool_call_result"],
  ["agent_state", "state_snapshot"],
  ["agent_context", "run_agent_input"],
  ["forwarded_props", "run_agent_input"],
  ["agent_event", "custom"],
  ["agent_tool_call", "tool_call_start"],
]);

/** Whether an actor of a mode can see an event; `undefined` when the mode is not known. */
export function isKnownEvent(mode: string, event: string): boolean | undefined {
  return EVENTS.get(mode)?.has(event);
}

/** Whether a protocol has a surface; `undefined` when the protocol is not known. */
export function isKnownSurface(protocol: string, surface: string): boolean | undefined {
  return SURFACES.get(protocol)?.has(surface);
}

/** The name of today for a surface of older AG-UI documents. */
export function modernSurface(surface: string): string | undefined {
  return LEGACY_SURFACES.get(surface);
}
