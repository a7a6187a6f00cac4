/** The rules that one framework needs on top of the starter policy, and its lines in `countersign.yaml`. */
export type Preset = {
  /** As people know it. */
  readonly title: string;
  /** Tools of its own that its clients declare. */
  readonly tools?: readonly string[];
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
  /** Test cases of what the preset draws, as lines below `cases`. */
  readonly cases?: readonly string[];
};

const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";

/** Lines of an activity that draws a button. */
const drawnButton = (anchor: string, action: string): string[] => [
  `      - ${anchor}`,
  "        type: ACTIVITY_SNAPSHOT",
  "        messageId: m1",
  "        activityType: a2ui-surface",
  "        content:",
  "          a2ui_operations:",
  `            - { version: v0.9, createSurface: { surfaceId: order, catalogId: "${CATALOGUE}" } }`,
  "            - version: v0.9",
  "              updateComponents:",
  "                surfaceId: order",
  "                components:",
  `                  - { id: root, component: Button, child: text, action: { event: { name: ${action} } } }`,
  "                  - { id: text, component: Text, text: View invoice }",
];

const click = (action: string): string =>
  `    event: { threadId: t1, runId: r2, messages: [], forwardedProps: { a2uiAction: { userAction: { name: ${action}, surfaceId: order, sourceComponentId: root } } } }`;

const A2UI_CASES = [
  "  - name: a button that does what it says, and a click on it",
  "    before:",
  ...drawnButton("&order", "view_invoice"),
  click("view_invoice"),
  "    expect: { decision: allow }",
  "",
  "  - name: a click that nobody made",
  "    before: [*order]",
  click("approve_refund"),
  "    expect: { decision: deny, rule: ag_ui_surfaces.clicks }",
  "",
  "  - name: a later message gives the same button another action",
  "    before: [*order]",
  "    event:",
  ...drawnButton("", "transfer_money")
    .slice(1)
    .map((line) => line.slice(2)),
  '    expect: { decision: deny, rule: ag_ui_surfaces.labels, component: "a2ui:Button:order/root" }',
];

const APP_CASES = [
  "  # List your server and its page in policy.mcp-apps.yaml; then a case with them expects allow.",
  "  - name: an app of a server that is not listed",
  '    event: { type: ACTIVITY_SNAPSHOT, messageId: m1, activityType: mcp-apps, content: { resourceUri: "ui://other/view", serverId: other, result: { content: [] }, toolInput: {} } }',
  "    expect: { decision: deny, rule: ag_ui_apps.servers }",
  "",
  "  - name: a request of an app that is not on the screen",
  "    event: { threadId: t1, runId: r1, messages: [], forwardedProps: { __proxiedMCPRequest: { serverId: other, method: tools/call, params: { name: delete_all } } } }",
  "    expect: { decision: deny, rule: ag_ui_apps.requests }",
];

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
    // What to say next; only its own client calls it.
    tools: ["copilotkitSuggest"],
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
      `    - id: ${CATALOGUE}`,
      "      # With components of your own, list every one that agents may draw; without this line, the basic ones.",
      "      # components: [Text, Image, Column, Row, Card, Button, TextField, InvoiceCard]",
      "    - id: unnamed",
      "  urls: { hosts: [] }",
    ],
    state: ["/**"],
    forwardedProps: ["a2uiAction"],
    cases: A2UI_CASES,
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
    cases: APP_CASES,
  },
};

/** The test cases of a preset, as a file; undefined where it has none. */
export function presetCases(name: string, { title, cases }: Preset): string | undefined {
  if (cases === undefined) return undefined;
  return `# What policy.${name}.yaml decides about ${title}: countersign policy test policy.${name}.test.yaml
# Write the events that your agent sends; before has those of the same thread that pass first.
policy: policy.${name}.yaml
cases:
${cases.join("\n")}
`;
}

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
    # Tools of the page that the agent may call: one line each.${block("tools", [...display(preset.tools), ...display(tools), ...starterTools])}${block("interrupts", [...starterInterrupts, ...display(preset.interrupts)])}${block("custom", display(preset.custom))}${block("raw", display(preset.raw))}${block("activities", display(preset.activities))}${block("components", display(preset.components))}${block("state", display(["/ui/theme/**", ...(preset.state ?? [])]))}
    input:
      tool_result: { classification: display }
      resume: { classification: display }
  ag_ui_request:
    threads: { mode: enforce }${forwarded.length === 0 ? "" : `\n    forwarded_props: { allow: ${JSON.stringify(forwarded)} }`}${preset.listsAreOpen === true ? "\n  ag_ui_messages:\n    lists: open" : ""}${(preset.blocks ?? []).map((line) => `\n  ${line}`).join("")}
`;
}
