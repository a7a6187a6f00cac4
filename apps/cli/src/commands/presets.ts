/** The rules that one framework needs on top of the starter policy, and its lines in `countersign.yaml`. */
export type Preset = {
  /** As people know it. */
  readonly title: string;
  /** Reasons of the questions that its own mechanism asks. */
  readonly interrupts?: readonly string[];
  /** Custom events of the adapter itself. */
  readonly custom?: readonly string[];
  /** Sources of `RAW` events, which repeat the framework's own; a page does nothing with them. */
  readonly raw?: readonly string[];
  /** Activities of the adapter itself. */
  readonly activities?: readonly string[];
  /** Components that it draws. */
  readonly components?: readonly string[];
  /** Further blocks of the policy, as lines below `rules`. */
  readonly blocks?: readonly string[];
  /** Paths of the state that it keeps for the page. */
  readonly state?: readonly string[];
  /** Keys of `forwardedProps` that its clients send. */
  readonly forwardedProps?: readonly string[];
  /** The framework's message lists join or rename the agent's own messages (`ag_ui_messages.lists: open`). */
  readonly listsAreOpen?: true;
  /** Lines below the agent in `countersign.yaml`. */
  readonly agent?: readonly string[];
};

/** Only frameworks that the lab ran, in the versions of docs/compatibility.md: a guess would open more than is needed. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  langgraph: {
    title: "LangGraph",
    interrupts: ["confirmation", "langgraph:*"],
    custom: ["on_interrupt", "PredictState"],
    raw: ["*"],
    state: ["/**"],
    forwardedProps: ["command", "node_name", "stream_subgraphs"],
  },
  mastra: {
    title: "Mastra",
    interrupts: ["mastra:*"],
    custom: ["on_interrupt"],
    activities: ["mastra-*"],
    state: ["/**"],
    forwardedProps: ["command"],
  },
  strands: {
    title: "AWS Strands",
    interrupts: ["confirmation"],
    custom: ["PredictState", "MultiAgentHandoff"],
    state: ["/**"],
  },
  copilotkit: {
    title: "CopilotKit (BuiltInAgent, runtime)",
    interrupts: ["confirmation", "tool_call"],
    state: ["/**"],
  },
  tanstack: {
    title: "TanStack AI",
    // A tool of the page is a question too; its answer is the result.
    interrupts: ["tool_call", "tanstack:client_tool_execution"],
    listsAreOpen: true,
  },
  voltagent: { title: "VoltAgent", state: ["/**"] },
  a2a: { title: "A2A (@ag-ui/a2a)", activities: ["a2ui-surface"] },
  a2ui: {
    title: "the A2UI middleware",
    interrupts: ["confirmation", "tool_call"],
    activities: ["a2ui-surface"],
    components: ["a2ui:*"],
    blocks: [
      "ag_ui_surfaces:",
      "  # The catalogues of your page; `unnamed` is its default, which calls of render_a2ui use without a name.",
      "  # Images and links load from no host that urls.hosts does not list.",
      "  catalogues:",
      "    - id: https://a2ui.org/specification/v0_9/basic_catalog.json",
      "    - id: unnamed",
      "  urls: { hosts: [] }",
    ],
    state: ["/**"],
    forwardedProps: ["a2uiAction"],
  },
  "mcp-apps": {
    title: "the MCP Apps middleware",
    interrupts: ["confirmation", "tool_call"],
    activities: ["mcp-apps"],
    components: ["mcp-app:*"],
    blocks: [
      "ag_ui_apps:",
      "  # Your servers by id and hash, their pages (with sha256 to pin the HTML) and the tools that pages may call.",
      "  servers: []",
      "  resources: []",
      "  tools: []",
    ],
    state: ["/**"],
    forwardedProps: ["__proxiedMCPRequest"],
  },
};

/** The policy of a preset: it extends the starter's `policy.yaml`; blocks that it names replace the starter's whole. */
export function presetPolicy(name: string, preset: Preset, tools: readonly string[]): string {
  const display = (matches: readonly string[] = []) =>
    matches.map(
      (match) => `\n      - { match: ${JSON.stringify(match)}, classification: display }`,
    );
  const block = (key: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `\n    ${key}:${lines.join("")}`;
  const starterTools = [
    '\n      - { match: "navigate_*", event_type: navigation, classification: navigate }',
    "\n      - { match: show_toast, event_type: notification, classification: alert, target: { component_type: toast } }",
  ];
  const starterInterrupts = [
    '\n      - { match: "refund*", target: { component_type: modal, component_id: confirm-refund } }',
  ];
  const components = ["chat-window", "interrupt", "modal", "toast", "card-*"];
  const forwarded = preset.forwardedProps ?? [];
  return `# yaml-language-server: $schema=./policy.schema.json
#
# What ${preset.title} needs besides policy.yaml, which says whether anything is blocked (mode).
# Take out what your application does not use. A block here replaces the whole block of policy.yaml.
hushspec: "0.1.0"
name: ${name}
extends: policy.yaml
rules:
  ag_ui_components:
    allow_components: ${JSON.stringify([...components, ...(preset.activities ?? []), ...(preset.components ?? [])])}
    default: block
  ag_ui_classify:
    # Tools of the page that the agent may call: one line each.${block("tools", [...display(tools), ...starterTools])}${block("interrupts", [...starterInterrupts, ...display(preset.interrupts)])}${block("custom", display(preset.custom))}${block("raw", display(preset.raw))}${block("activities", display(preset.activities))}${block("components", display(preset.components))}${block("state", display(["/ui/theme/**", ...(preset.state ?? [])]))}
    input:
      tool_result: { classification: display }
      resume: { classification: display }
  ag_ui_request:
    threads: { mode: enforce }${forwarded.length === 0 ? "" : `\n    forwarded_props: { allow: ${JSON.stringify(forwarded)} }`}${preset.listsAreOpen === true ? "\n  ag_ui_messages:\n    lists: open" : ""}${(preset.blocks ?? []).map((line) => `\n  ${line}`).join("")}
`;
}
