import type { JsonObject, JsonValue } from "@countersign/core";
import { canonicalJson, sha256Hex } from "@countersign/core";
import { expect, test } from "vitest";
import { policyOf } from "../testing/judge.js";
import type { Expectation, PolicyCase } from "./case-file.js";
import { readCaseFile } from "./case-file.js";
import { readRecording } from "./recording.js";
import { replayRecording } from "./replay.js";
import { runCases } from "./run-cases.js";

const BASIC = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const CATALOGUE = { catalogId: BASIC, components: { Text: {} } };
const PAGE = "<p>Sunny</p>";
const PIN = sha256Hex(canonicalJson({ html: PAGE, css: "", jsFunctions: "", jsExpressions: [] }));

const POLICY = `
ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
ag_ui_request: { forwarded_props: { allow: [a2uiAction, __proxiedMCPRequest] } }
ag_ui_tools: { allow_agent_results: true }
ag_ui_surfaces:
  catalogues:
    - { id: "${BASIC}", hash: "${sha256Hex(canonicalJson(CATALOGUE))}" }
    - { id: unnamed }
  urls: { hosts: [images.example.org] }
  agent_functions: [lookup]
ag_ui_apps:
  servers: [weather]
  resources: [{ uri: "ui://weather/*" }, { uri: "ui://pinned/view", sha256: "${PIN}" }]
  tools: [{ name: forecast, arguments: { type: object, required: [city], additionalProperties: true } }]
  csp: { connect: [api.example.org] }
`;
const HTML = POLICY.replace("ag_ui_apps:", "ag_ui_apps:\n  sandboxed_html: allow");

type Parts = {
  components?: JsonValue[];
  data?: JsonObject;
  create?: JsonObject;
  more?: JsonValue[];
};

const operations = ({ components = [], data, create = {}, more = [] }: Parts): JsonObject => ({
  a2ui_operations: [
    { version: "v0.9", createSurface: { surfaceId: "s", catalogId: BASIC, ...create } },
    ...(components.length === 0
      ? []
      : [{ version: "v0.9", updateComponents: { surfaceId: "s", components } }]),
    ...(data === undefined
      ? []
      : [{ version: "v0.9", updateDataModel: { surfaceId: "s", path: "/", value: data } }]),
    ...more,
  ],
});
const activity = (content: JsonObject, activityType = "a2ui-surface"): JsonObject => ({
  type: "ACTIVITY_SNAPSHOT",
  messageId: "m",
  activityType,
  content,
});
const draw = (parts: Parts): JsonObject => activity(operations(parts));
const button = (label: JsonValue, action: string, more: JsonObject = {}): JsonValue[] => [
  {
    id: "root",
    component: "Button",
    child: "t",
    action: { event: { name: action, context: { id: { path: "/id" } } } },
    ...more,
  },
  { id: "t", component: "Text", text: label },
];
const root = (component: string, more: JsonObject): JsonValue[] => [
  { id: "root", component, ...more },
];
const request = (forwardedProps: JsonObject, context: JsonValue[] = []): JsonObject => ({
  threadId: "t",
  runId: "r",
  messages: [],
  context,
  forwardedProps,
});
const click = (name: string, context: JsonObject = {}): JsonObject =>
  request({
    a2uiAction: { userAction: { name, surfaceId: "s", sourceComponentId: "root", context } },
  });
const app = (more: JsonObject): JsonObject =>
  activity(
    { result: { content: [] }, resourceUri: "ui://weather/view", toolInput: {}, ...more },
    "mcp-apps",
  );
const call = (name: string, args: JsonObject, server = "weather"): JsonObject =>
  request({
    __proxiedMCPRequest: {
      serverId: server,
      method: "tools/call",
      params: { name, arguments: args },
    },
  });
const resource = (uri: string, text: string, ui: JsonObject = {}): JsonObject => ({
  type: "RUN_FINISHED",
  threadId: "t",
  runId: "r",
  result: { contents: [{ uri, mimeType: "text/html;profile=mcp-app", text, _meta: { ui } }] },
});
const html = (text: string): JsonObject =>
  activity({ html: [text], htmlComplete: true, generating: false }, "open-generative-ui");
const result = (content: JsonValue): JsonObject => ({
  type: "TOOL_CALL_RESULT",
  messageId: "m2",
  toolCallId: "c",
  content,
});

const VIEW = draw({ components: button("View invoice", "view") });
const LATE: JsonObject = draw({ components: button("View invoice", "transfer") });
const ALLOW: Expectation = { decision: "allow" };
const block = (rule: string, component?: string): Expectation => ({
  decision: "block",
  rule,
  ...(component === undefined ? {} : { component }),
});
const LABELS = block("ag_ui_surfaces.labels", "a2ui:Button:s/root");
const CLICKS = block("ag_ui_surfaces.clicks");
const image = (url: JsonValue, data?: JsonObject): JsonObject =>
  draw({ components: root("Image", { url }), ...(data === undefined ? {} : { data }) });

type Row = readonly [
  name: string,
  one: Pick<PolicyCase, "event" | "before" | "tool">,
  expect: Expectation,
];

/** Every check of generative UI: what passes, and what is blocked. */
const ROWS: readonly Row[] = [
  [
    "G1: a label that is bound to data",
    { event: draw({ components: button({ path: "/l" }, "view"), data: { l: "View" } }) },
    ALLOW,
  ],
  [
    "G1: data that changes the label later",
    {
      before: [draw({ components: button({ path: "/l" }, "transfer"), data: { l: "Transfer" } })],
      event: draw({ components: button({ path: "/l" }, "transfer"), data: { l: "View invoice" } }),
    },
    LABELS,
  ],
  ["G1: a late action below a harmless label", { before: [VIEW], event: LATE }, LABELS],
  [
    "G1: an action in a patch of the activity",
    {
      before: [VIEW],
      event: {
        type: "ACTIVITY_DELTA",
        messageId: "m",
        activityType: "a2ui-surface",
        patch: [
          {
            op: "add",
            path: "/a2ui_operations/-",
            value: {
              version: "v0.9",
              updateComponents: { surfaceId: "s", components: button("View invoice", "transfer") },
            },
          },
        ],
      },
    },
    LABELS,
  ],
  ["G2: the basic catalogue", { event: VIEW }, ALLOW],
  [
    "G2: another catalogue",
    {
      event: draw({
        components: button("View", "view"),
        create: { catalogId: "https://evil.example/c.json" },
      }),
    },
    block("ag_ui_surfaces.catalogues"),
  ],
  [
    "G2: a component that the catalogue does not have",
    { event: draw({ components: root("Wallet", {}) }) },
    block("ag_ui_surfaces.components", "a2ui:Wallet:s/root"),
  ],
  [
    "G2: the pinned catalogue of a browser",
    {
      event: request({}, [
        {
          description: "A2UI Component Schema — available components",
          value: JSON.stringify(CATALOGUE),
        },
      ]),
    },
    ALLOW,
  ],
  [
    "G2: a catalogue that a browser changed",
    {
      event: request({}, [
        {
          description: "A2UI Component Schema — available components",
          value: JSON.stringify({ ...CATALOGUE, components: { Wallet: {} } }),
        },
      ]),
    },
    block("ag_ui_surfaces.catalogues"),
  ],
  ["G3: an image of a listed host", { event: image("https://images.example.org/a.png") }, ALLOW],
  [
    "G3: an image whose URL is in the data",
    { event: image({ path: "/u" }, { u: "https://evil.example/?d=secret" }) },
    block("ag_ui_surfaces.urls", "a2ui:Image:s/root"),
  ],
  [
    "G3: openUrl that formatString puts together",
    {
      event: draw({
        components: [
          {
            id: "root",
            component: "Button",
            child: "t",
            action: {
              functionCall: {
                call: "openUrl",
                args: { url: { call: "formatString", args: { value: "https://${/h}/x" } } },
              },
            },
          },
          { id: "t", component: "Text", text: "More" },
        ],
        data: { h: "evil.example" },
      }),
    },
    block("ag_ui_surfaces.urls", "a2ui:Button:s/root"),
  ],
  [
    "G4: a name",
    {
      event: draw({
        components: root("TextField", { label: "Your name", value: { path: "/name" } }),
      }),
    },
    ALLOW,
  ],
  [
    "G4: a password",
    {
      event: draw({
        components: root("TextField", { label: "Word", value: { path: "/login/password" } }),
      }),
    },
    block("ag_ui_surfaces.inputs", "a2ui:TextField:s/root"),
  ],
  [
    "G5: an accessibility label that agrees",
    {
      event: draw({
        components: button("Pay", "pay", { accessibility: { label: "Pay the invoice" } }),
      }),
    },
    ALLOW,
  ],
  [
    "G5: a screen reader gets the opposite",
    {
      event: draw({
        components: button("Delete all", "run", { accessibility: { label: "Close" } }),
      }),
    },
    block("ag_ui_surfaces.labels"),
  ],
  ["G6: a click on what is shown", { before: [VIEW], event: click("view", { id: 7 }) }, ALLOW],
  ["G6: an action that was never shown", { before: [VIEW], event: click("transfer") }, CLICKS],
  [
    "G6: a context key that is not declared",
    { before: [VIEW], event: click("view", { amount: 1 }) },
    CLICKS,
  ],
  [
    "G6: a click on a deleted surface",
    {
      before: [
        VIEW,
        draw({
          components: button("View invoice", "view"),
          more: [{ version: "v0.9", deleteSurface: { surfaceId: "s" } }],
        }),
      ],
      event: click("view"),
    },
    CLICKS,
  ],
  ["G6: a second click", { before: [VIEW, click("view")], event: click("view") }, CLICKS],
  [
    "G6: a click again after the surface changed",
    {
      before: [VIEW, click("view"), draw({ components: button("View again", "view") })],
      event: click("view"),
    },
    ALLOW,
  ],
  [
    "G7: a listed function of the agent",
    {
      event: request({
        a2uiAction: { callAgentFunction: { surfaceId: "s", callFunction: { call: "lookup" } } },
      }),
    },
    ALLOW,
  ],
  [
    "G7: a function of the agent",
    {
      event: request({
        a2uiAction: { callAgentFunction: { surfaceId: "s", callFunction: { call: "drop" } } },
      }),
    },
    block("ag_ui_surfaces.functions"),
  ],
  [
    "G7: the whole data model",
    { event: draw({ components: root("Text", { text: "a" }), create: { sendDataModel: true } }) },
    block("ag_ui_surfaces.send_data_model"),
  ],
  ["G8: an app of a listed server", { event: app({ serverId: "weather" }) }, ALLOW],
  [
    "G8: an app of another server",
    { event: app({ serverId: "mail" }) },
    block("ag_ui_apps.servers"),
  ],
  [
    "G8: a call of an app that is shown",
    { before: [app({ serverId: "weather" })], event: call("forecast", { city: "Oslo" }) },
    ALLOW,
  ],
  [
    "G8: a call of a server without an app",
    { before: [app({ serverId: "weather" })], event: call("forecast", { city: "Oslo" }, "mail") },
    block("ag_ui_apps.requests"),
  ],
  [
    "G8: arguments that do not fit",
    { before: [app({ serverId: "weather" })], event: call("forecast", {}) },
    block("ag_ui_apps.requests"),
  ],
  ["G8: pinned HTML", { event: resource("ui://pinned/view", PAGE) }, ALLOW],
  [
    "G8: other HTML than the pinned",
    { event: resource("ui://pinned/view", "<p>Rain</p>") },
    block("ag_ui_apps.resources"),
  ],
  [
    "G8: a domain that injects a directive",
    {
      event: resource("ui://weather/view", PAGE, {
        csp: { connectDomains: ["api.example.org; script-src *"] },
      }),
    },
    block("ag_ui_apps.csp"),
  ],
  ["G9: HTML of an agent, where the policy allows it", { event: html(PAGE) }, ALLOW],
  [
    "G9: HTML with a form",
    { event: html("<form><input name=q></form>") },
    block("ag_ui_apps.html"),
  ],
  [
    "G9: arguments of a rendering tool that are HTML",
    {
      event: { type: "TOOL_CALL_END", toolCallId: "c" },
      tool: { name: "generateSandboxedUi", arguments: { html: "<script>go()</script>" } },
    },
    block("ag_ui_apps.html"),
  ],
  [
    "G10: a surface that is created and then changed",
    { before: [VIEW], event: draw({ components: button("View receipt", "view") }) },
    ALLOW,
  ],
  [
    "G10: an operation that no client knows",
    { event: draw({ more: [{ version: "v0.9", replaceSurface: { surfaceId: "s" } }] }) },
    block("ag_ui_surfaces.undecided"),
  ],
  [
    "G10: components in a cycle",
    {
      event: draw({
        components: [
          { id: "root", component: "Column", children: ["a"] },
          { id: "a", component: "Column", children: ["root"] },
        ],
      }),
    },
    block("ag_ui_surfaces.undecided"),
  ],
  [
    "G11: a tool result that draws what agrees",
    { event: result(operations({ components: button("View", "view") })), tool: { name: "search" } },
    ALLOW,
  ],
  [
    "G11: a poisoned tool result",
    {
      event: result(operations({ components: button("View", "grant_access") })),
      tool: { name: "search" },
    },
    LABELS,
  ],
  [
    "G11: a resource in a tool result",
    {
      event: result({
        content: [
          {
            type: "resource",
            resource: {
              uri: "a2ui://x",
              mimeType: "application/a2ui+json",
              text: JSON.stringify(
                operations({ components: button("OK", "pay_now") })["a2ui_operations"],
              ),
            },
          },
        ],
      }),
      tool: { name: "search" },
    },
    LABELS,
  ],
  [
    "G11: streamed arguments of render_a2ui",
    {
      before: [
        { type: "TOOL_CALL_START", toolCallId: "c", toolCallName: "render_a2ui" },
        { type: "TOOL_CALL_ARGS", toolCallId: "c", delta: '{"surfaceId":"s","components":' },
        {
          type: "TOOL_CALL_ARGS",
          toolCallId: "c",
          delta: `${JSON.stringify(button("View", "pay"))}}`,
        },
      ],
      event: { type: "TOOL_CALL_END", toolCallId: "c" },
    },
    LABELS,
  ],
  [
    "G11: a message list with a surface",
    {
      event: {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          {
            id: "m",
            role: "activity",
            activityType: "a2ui-surface",
            content: operations({ components: button("View invoice", "pay") }),
          },
        ],
      },
    },
    LABELS,
  ],
  [
    "G11: a message list that draws what agrees",
    {
      event: {
        type: "MESSAGES_SNAPSHOT",
        messages: [
          {
            id: "m",
            role: "activity",
            activityType: "a2ui-surface",
            content: operations({ components: button("View", "view") }),
          },
        ],
      },
    },
    ALLOW,
  ],
];

test.each(ROWS)("%s", (name, one, expected) => {
  const policy = policyOf(name.startsWith("G9") ? HTML : POLICY);
  const [outcome] = runCases(policy, [{ name, ...one, expect: expected }]).results;
  expect(outcome?.differences).toEqual([]);
});

test("every check has a case that passes and one that is blocked", () => {
  for (let check = 1; check <= 11; check += 1) {
    const own = ROWS.filter(([name]) => name.startsWith(`G${check}:`));
    expect([check, ...new Set(own.map(([, , { decision }]) => decision))].toSorted()).toEqual(
      [check, "allow", "block"].toSorted(),
    );
  }
});

test("a case that expects another component names the one that blocks", () => {
  const { results } = runCases(policyOf(POLICY), [
    { name: "x", event: LATE, expect: { ...LABELS, component: "a2ui:Button:s/pay" } },
  ]);
  expect(results[0]?.differences).toEqual([
    'expected component "a2ui:Button:s/pay", got "a2ui:Button:s/root"',
  ]);
});

test("an event before that is blocked fails the case", () => {
  const { results } = runCases(policyOf(POLICY), [
    { name: "x", before: [LATE], event: click("transfer"), expect: { decision: "block" } },
  ]);
  expect(results[0]?.differences).toEqual([
    expect.stringMatching(/^before\.0 does not pass \(ag_ui_surfaces\.labels: .*Fix: /u),
  ]);
});

test("mistakes in a case have a line, a column and a fix", () => {
  const { issues } = readCaseFile(
    `cases:
  - name: a
    before:
      - { type: ACTIVITY_SNAPSHOT, messageId: m, activityType: a2ui-surface, content: {} }
      - { type: NO_SUCH }
      - { type: TOOL_CALL_CHUNK, toolCallId: c, toolCallName: render_a2ui, delta: "{}" }
    event: { threadId: t, runId: r, messages: [] }
    shown: { components: [] }
    expect: { decision: deny }
  - name: b
    event: { type: RUN_ERROR, message: m }
    shown: { components: [] }
    expect: { decision: deny }
`,
    "c.yaml",
  );
  expect(issues.map(({ line, column, message }) => [line, column, message])).toEqual([
    [5, 9, "cases.0.before.1: unknown event type NO_SUCH"],
    [6, 9, expect.stringContaining("Fix: write TOOL_CALL_START")],
    [8, 12, expect.stringContaining("either shown or before. Fix: ")],
    [12, 12, expect.stringContaining("only a request has clicks. Fix: ")],
  ]);
});

test("a recording is judged with its surfaces and its clicks", () => {
  const policy = policyOf(POLICY);
  const { subjects } = readRecording([VIEW, click("view", { id: 7 }), LATE, click("buy")], policy);
  const { samples } = replayRecording(policy, subjects);
  expect(samples.map(({ position, rule }) => [position, rule])).toEqual([
    [3, "ag_ui_surfaces.labels"],
    [4, "ag_ui_surfaces.clicks"],
  ]);
});

test("clicks that a policy accepts or only observes are not refused", () => {
  const decide = (actions: string) => {
    const text = POLICY.replace("ag_ui_request: {", `ag_ui_request: { actions: ${actions},`);
    return (decision: Expectation["decision"]) =>
      runCases(policyOf(text), [{ name: "x", event: click("pay"), expect: { decision } }])
        .results[0]?.differences;
  };
  expect(decide("{ accept: shown }")("block")).toEqual([]);
  expect(decide("{ accept: any }")("allow")).toEqual([]);
  expect(decide("{ mode: observe }")("allow")).toEqual([]);
});
