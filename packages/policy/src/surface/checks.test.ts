import { canonicalJson, sha256Hex } from "@countersign/core";
import type { JsonObject } from "@countersign/core";
import { expect, test } from "vitest";
import type { PolicyCase } from "../cases/case-file.js";
import { readCaseFile } from "../cases/case-file.js";
import { runCases } from "../cases/run-cases.js";
import { surfaceOfCase } from "../cases/surface-case.js";
import { classifyEvent } from "../classify/event.js";
import type { ComponentCase, SurfaceCase } from "../cases/surface-case.js";
import { compilePolicy } from "../compile/compile.js";
import { NO_COUNTERS } from "../compile/facts.js";
import type { POLICY_RULES } from "../compile/rule-meanings.js";
import { loadPolicy } from "../document/load.js";
import { addSurface } from "./view.js";

const BASIC = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const OTHER = "https://catalogues.example/other.json";
const CATALOGUE = { catalogId: BASIC, components: { Text: {} } };
const HASH = sha256Hex(canonicalJson(CATALOGUE));
const PIN = "a".repeat(64);

/** Every class is open, so that the rules about surfaces alone decide. */
const OPEN = "ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }\n";
const LISTED = `${OPEN}
ag_ui_request: { forwarded_props: { allow: [a2uiAction, __proxiedMCPRequest] } }
ag_ui_surfaces:
  catalogues:
    - id: ${BASIC}
      hash: ${HASH}
      schemas: { Text: { type: object, properties: { text: { type: string, maxLength: 20 } } } }
    - { id: ${OTHER}, components: [Chart], functions: [plot] }
  block_functions: [regex]
  agent_calls: [refresh]
  agent_functions: [lookup]
  urls: { hosts: [images.example.org] }
ag_ui_apps:
  servers: [weather]
  resources: [{ uri: "ui://weather/*" }, { uri: "ui://pinned/view", sha256: ${PIN} }]
  tools:
    - { name: forecast, arguments: { type: object, required: [city], additionalProperties: true } }
    - { name: admin, visibility: [model] }
  csp: { connect: [api.example.org] }
  permissions: [clipboardWrite]
`;

const EVENT = {
  type: "ACTIVITY_SNAPSHOT",
  messageId: "m",
  activityType: "a2ui-surface",
  content: {},
};
const textOf = (more: Partial<ComponentCase> = {}): ComponentCase => ({
  component: "a2ui:Text",
  id: "s/t",
  label: "hello",
  ...more,
});
const buttonOf = (
  label: string,
  action: string,
  more: Partial<ComponentCase> = {},
): ComponentCase => ({
  component: "a2ui:Button",
  id: "s/b",
  label,
  action,
  ...more,
});
const fieldOf = (
  label: string,
  more: Partial<NonNullable<ComponentCase["inputs"]>[number]> = {},
) => ({
  component: "a2ui:TextField",
  id: "s/f",
  label,
  inputs: [{ label, ...more }],
});
const appOf = (more: Partial<ComponentCase> = {}): ComponentCase => ({
  component: "mcp-app:ui://weather/view",
  id: "app",
  ...more,
});
const drawn = (...components: ComponentCase[]): SurfaceCase => ({ catalogue: BASIC, components });

function decide(
  policy: string,
  one: Partial<PolicyCase>,
): { rule: string; reason: string } | undefined {
  const compiled = compilePolicy(loadPolicy(policy));
  const [result] = runCases(compiled, [
    { name: "case", event: EVENT, expect: { decision: "allow" }, ...one },
  ]).results;
  const differences = result?.differences.join("\n") ?? "no result";
  const [, rule = differences, reason = ""] = /\(([\w.-]+): (.*)\)/su.exec(differences) ?? [];
  return differences === "" ? undefined : { rule, reason };
}

const PASSES: readonly [string, SurfaceCase][] = [
  ["G1: a label and an action that agree", drawn(buttonOf("Approve", "approve"))],
  ["G1: a harmless action", drawn(buttonOf("View invoice", "view_invoice"))],
  ["G2: a component of the basic catalogue", drawn(textOf({ properties: { text: "short" } }))],
  [
    "G2: a listed component of another catalogue",
    {
      catalogue: OTHER,
      components: [textOf({ component: "a2ui:Chart", agent_functions: ["plot"] })],
    },
  ],
  ["G3: an image of a listed host", drawn(textOf({ urls: ["https://images.example.org/a.png"] }))],
  [
    "G3: a Markdown image of a listed host, without ag_ui_content",
    drawn(textOf({ label: "![a](https://images.example.org/a.png)" })),
  ],
  [
    "G4: a name",
    drawn(fieldOf("Your name", { path: "/customer/name", hints: ["As in shipping"] })),
  ],
  [
    "G5: an accessibility label that says the same",
    drawn(buttonOf("Pay", "pay", { accessibility_label: "Pay the invoice" })),
  ],
  ["G7: a basic function", drawn(textOf({ functions: ["formatString"] }))],
  ["G7: a listed call of the agent", { ...drawn(textOf()), agent_calls: ["refresh"] }],
  [
    "G8: a listed app",
    {
      server: "weather",
      components: [
        appOf({
          csp: { connectDomains: ["https://api.example.org"] },
          properties: { ui: { permissions: { clipboardWrite: {} } } },
        }),
      ],
    },
  ],
  [
    "G8: pinned HTML",
    { html: { hash: PIN }, components: [appOf({ component: "mcp-app:ui://pinned/view" })] },
  ],
];

test.each(PASSES)("passes: %s", (_, surface) => {
  expect(decide(LISTED, { surface })).toBeUndefined();
});

const FAILS: readonly [rule: keyof typeof POLICY_RULES, string, SurfaceCase][] = [
  [
    "ag_ui_surfaces.undecided",
    "G1: a surface that is not certain",
    { ...drawn(textOf()), undecided: "a child is missing" },
  ],
  [
    "ag_ui_surfaces.labels",
    "G1: a label swapped under an action",
    drawn(buttonOf("View invoice", "transferFunds")),
  ],
  [
    "ag_ui_surfaces.catalogues",
    "G2: a catalogue that is not listed",
    { catalogue: "https://evil.example/c.json", components: [textOf()] },
  ],
  ["ag_ui_surfaces.catalogues", "G2: no catalogue", { components: [textOf()] }],
  [
    "ag_ui_surfaces.catalogues",
    "G2: a catalogue of a component, even a listed one",
    drawn(textOf({ component: "a2ui:Chart", catalogue: OTHER })),
  ],
  [
    "ag_ui_surfaces.components",
    "G2: a component that the catalogue does not have",
    drawn(textOf({ component: "a2ui:Chart" })),
  ],
  [
    "ag_ui_surfaces.props",
    "G2: properties beyond the schema",
    drawn(textOf({ properties: { text: "x".repeat(21) } })),
  ],
  [
    "ag_ui_surfaces.urls",
    "G3: a Markdown image of another host, without ag_ui_content",
    drawn(textOf({ label: "![a](https://evil.example/?d=1)" })),
  ],
  [
    "ag_ui_surfaces.urls",
    "G3: a Markdown link that runs code, in a text of a binding",
    drawn(textOf({ texts: ["[a](javascript:alert(1))"] })),
  ],
  [
    "ag_ui_surfaces.urls",
    "G3: another host, after bindings",
    drawn(textOf({ urls: ["https://evil.example/?d=1"] })),
  ],
  [
    "ag_ui_surfaces.urls",
    "G3: a URL that a person's typing changes",
    drawn(textOf({ unknown_urls: ["https://images.example.org/?q="] })),
  ],
  ["ag_ui_surfaces.inputs", "G4: a password", drawn(fieldOf("Passwort"))],
  [
    "ag_ui_surfaces.inputs",
    "G4: a card by its data path",
    drawn(fieldOf("Number", { path: "/payment/cardNumber" })),
  ],
  [
    "ag_ui_surfaces.labels",
    "G5: a screen reader gets the opposite",
    drawn(buttonOf("Delete all", "run", { accessibility_label: "Close" })),
  ],
  [
    "ag_ui_surfaces.send_data_model",
    "G7: the whole data model",
    { ...drawn(textOf()), send_data_model: true },
  ],
  [
    "ag_ui_surfaces.functions",
    "G7: a function that the page does not know",
    drawn(textOf({ agent_functions: ["exfiltrate"] })),
  ],
  ["ag_ui_surfaces.functions", "G7: a blocked function", drawn(textOf({ functions: ["regex"] }))],
  [
    "ag_ui_surfaces.functions",
    "G7: a call of the agent that is not listed",
    { ...drawn(textOf()), agent_calls: ["openUrl"] },
  ],
  ["ag_ui_apps.servers", "G8: another server", { server: "mail", components: [appOf()] }],
  [
    "ag_ui_apps.servers",
    "G8: a listed id with the hash of another server",
    { server: "weather", server_hash: "f00", components: [appOf()] },
  ],
  ["ag_ui_apps.servers", "G8: no server", { components: [appOf()] }],
  [
    "ag_ui_apps.resources",
    "G8: another resource",
    { server: "weather", components: [appOf({ component: "mcp-app:ui://mail/view" })] },
  ],
  [
    "ag_ui_apps.resources",
    "G8: other HTML",
    {
      html: { hash: "b".repeat(64) },
      components: [appOf({ component: "mcp-app:ui://pinned/view" })],
    },
  ],
  [
    "ag_ui_apps.csp",
    "G8: another domain",
    { server: "weather", components: [appOf({ csp: { connectDomains: ["evil.example"] } })] },
  ],
  [
    "ag_ui_apps.csp",
    "G8: a domain that is listed for another use",
    { server: "weather", components: [appOf({ csp: { frameDomains: ["api.example.org"] } })] },
  ],
  [
    "ag_ui_apps.permissions",
    "G8: a permission that is not listed",
    {
      server: "weather",
      components: [appOf({ properties: { ui: { permissions: { camera: {} } } } })],
    },
  ],
  [
    "ag_ui_apps.html",
    "G9: HTML of an agent",
    { html: { bytes: 10 }, components: [textOf({ component: "html-sandbox:c", id: "c" })] },
  ],
];

test.each(FAILS)("%s blocks: %s", (rule, _, surface) => {
  const denial = decide(LISTED, { surface });
  expect(denial?.rule).toBe(rule);
});

test("a denial names the component, its action and the hash of what a person sees", () => {
  const view = surfaceOfCase(drawn(textOf(), buttonOf("View", "pay")));
  const policy = compilePolicy(loadPolicy(LISTED));
  const event = classifyEvent({ ...EVENT, type: "ACTIVITY_SNAPSHOT", replace: true }, policy);
  const decision = policy.evaluate({
    event: addSurface(event, view.facts, policy.refinements),
    surface: view,
    transport: "sse",
    counters: NO_COUNTERS,
  });
  expect(decision).toMatchObject({
    rule: "ag_ui_surfaces.labels",
    reason: 'a2ui:Button "s/b" says "view" and its action does "pay"',
    component: {
      type: "a2ui:Button",
      id: "s/b",
      action: "pay",
      subtreeHash: view.facts.components[1]?.subtreeHash,
    },
  });
});

test("nothing is drawn without the blocks, and the rules are those of the document", () => {
  expect(decide(OPEN, { surface: drawn(textOf()) })?.rule).toBe("ag_ui_surfaces.catalogues");
  expect(compilePolicy(loadPolicy(OPEN)).rules.join()).not.toContain("ag_ui_surfaces");
});

test("what is not certain is blocked even where the block is off", () => {
  const off = `${OPEN}ag_ui_surfaces: { enabled: false }\nag_ui_apps: { enabled: false }\n`;
  expect(decide(off, { surface: drawn(textOf()) })).toBeUndefined();
  const surface = { ...drawn(textOf()), undecided: "a cycle" };
  expect(decide(off, { surface })?.rule).toBe("ag_ui_surfaces.undecided");
});

test.each([
  ["a form", { forms: 1 }],
  ["a script", { scripts: 1 }],
  ["too many bytes", { bytes: 1_000_000 }],
])("G9: allowed HTML of an agent may not have %s", (_, html) => {
  const policy = `${OPEN}ag_ui_apps: { sandboxed_html: allow }\n`;
  const components = [textOf({ component: "html-sandbox:c", id: "c", label: "hello" })];
  expect(decide(policy, { surface: { components, html: {} } })).toBeUndefined();
  expect(decide(policy, { surface: { components, html } })?.rule).toBe("ag_ui_apps.html");
  const asking = [{ ...components[0], inputs: [{ label: "Password" }] } as ComponentCase];
  expect(decide(policy, { surface: { components: asking, html: {} } })?.rule).toBe(
    "ag_ui_surfaces.inputs",
  );
});

test("G11: a tool result that becomes UI is judged as UI", () => {
  const event = { type: "TOOL_CALL_RESULT", messageId: "m", toolCallId: "c", content: "{}" };
  expect(decide(LISTED, { event, surface: drawn(textOf()) })).toBeUndefined();
  const surface = drawn(buttonOf("OK", "grant_access"));
  expect(decide(LISTED, { event, surface })?.rule).toBe("ag_ui_surfaces.labels");
});

const RUN = { threadId: "t", runId: "r", messages: [] };
const asked = (forwardedProps: JsonObject, more: JsonObject = {}): PolicyCase["event"] => ({
  ...RUN,
  forwardedProps,
  ...more,
});
const click = (name: string, context: JsonObject = {}): JsonObject => ({
  a2uiAction: { userAction: { name, surfaceId: "s", sourceComponentId: "b", context } },
});
const SHOWN = drawn(buttonOf("Approve", "approve", { context_keys: ["id"] }));
const app = (
  method: string,
  params: JsonObject,
  server: JsonObject = { serverId: "weather" },
): JsonObject => ({
  __proxiedMCPRequest: { ...server, method, params },
});
const SHOWN_APP: SurfaceCase = { server: "weather", components: [appOf()] };

test.each<[string, JsonObject, SurfaceCase | undefined, string | undefined]>([
  ["a click on what is shown", click("approve", { id: 7 }), SHOWN, undefined],
  ["a click on nothing", click("approve"), undefined, "ag_ui_surfaces.clicks"],
  ["an action that the component does not have", click("transfer"), SHOWN, "ag_ui_surfaces.clicks"],
  [
    "context that the action does not declare",
    click("approve", { amount: 1 }),
    SHOWN,
    "ag_ui_surfaces.clicks",
  ],
  ["a click that is none", { a2uiAction: "approve" }, SHOWN, "ag_ui_surfaces.clicks"],
  [
    "a function that is listed",
    { a2uiAction: { callAgentFunction: { callFunction: { call: "lookup" } } } },
    SHOWN,
    undefined,
  ],
  [
    "a function that is not listed",
    { a2uiAction: { callAgentFunction: { callFunction: { call: "wipe" } } } },
    SHOWN,
    "ag_ui_surfaces.functions",
  ],
  [
    "a tool of apps",
    app("tools/call", { name: "forecast", arguments: { city: "Bonn" } }),
    SHOWN_APP,
    undefined,
  ],
  [
    "arguments that do not fit",
    app("tools/call", { name: "forecast", arguments: {} }),
    SHOWN_APP,
    "ag_ui_apps.requests",
  ],
  [
    "a tool that is for the model alone",
    app("tools/call", { name: "admin" }),
    SHOWN_APP,
    "ag_ui_apps.requests",
  ],
  [
    "a tool that is not listed",
    app("tools/call", { name: "wipe" }),
    SHOWN_APP,
    "ag_ui_apps.requests",
  ],
  [
    "an app that is not shown",
    app("tools/call", { name: "forecast", arguments: { city: "x" } }),
    undefined,
    "ag_ui_apps.requests",
  ],
  [
    "a server that is not shown",
    app("ping", {}, { serverId: "mail" }),
    SHOWN_APP,
    "ag_ui_apps.requests",
  ],
  [
    "the hash of another server",
    app("ping", {}, { serverId: "weather", serverHash: "f00" }),
    SHOWN_APP,
    "ag_ui_apps.requests",
  ],
  ["no server", app("ping", {}, {}), SHOWN_APP, "ag_ui_apps.requests"],
  [
    "the resource that is shown",
    app("resources/read", { uri: "ui://weather/view" }),
    SHOWN_APP,
    undefined,
  ],
  [
    "another resource of the server",
    app("resources/read", { uri: "ui://weather/other" }),
    SHOWN_APP,
    "ag_ui_apps.requests",
  ],
  [
    "a method that is not listed",
    app("notifications/message", {}),
    SHOWN_APP,
    "ag_ui_apps.requests",
  ],
])("G6, G8: %s", (_, props, shown, rule) => {
  const entry = { event: asked(props), ...(shown === undefined ? {} : { shown }) };
  expect(decide(LISTED, entry)?.rule).toBe(rule);
});

test("G2: a client may send a catalogue only with its pinned hash", () => {
  const context = (value: JsonObject): JsonObject => ({
    context: [
      { description: "A2UI Component Schema — available components", value: JSON.stringify(value) },
    ],
  });
  const judge = (value: JsonObject) => decide(LISTED, { event: asked({}, context(value)) });
  expect(judge(CATALOGUE)).toBeUndefined();
  expect(judge({ ...CATALOGUE, components: { Text: {}, Wallet: {} } })?.rule).toBe(
    "ag_ui_surfaces.catalogues",
  );
  expect(judge({ catalogId: OTHER, components: {} })?.rule).toBe("ag_ui_surfaces.catalogues");
  const [, hash] =
    /with the hash ([0-9a-f]{64}),/u.exec(
      judge({ catalogId: BASIC, components: {} })?.reason ?? "",
    ) ?? [];
  expect(hash).toBe(sha256Hex(canonicalJson({ catalogId: BASIC, components: {} })));
  // CopilotKit's page sends guides beside its catalogue, under descriptions with this word.
  const guides = [
    { description: "A2UI catalog capabilities", value: `Available A2UI catalog:\n- ${BASIC}` },
    { description: "A2UI design guidelines", value: "Use a Card." },
  ];
  expect(decide(LISTED, { event: asked({}, { context: guides }) })).toBeUndefined();
  for (const entry of [
    { description: "A2UI Component Schema", value: "Text and Wallet" },
    { description: "A2UI guidelines", value: '{"a":1,"a":2}' },
    { description: "page", value: `{"catalogId":1,"catalogId":2,"components":{}}` },
  ]) {
    const denial = decide(LISTED, { event: asked({}, { context: [entry] }) });
    expect(denial?.rule).toBe("ag_ui_surfaces.catalogues");
  }
  const plain = { context: [{ description: "page", value: "cart" }] };
  expect(decide(LISTED, { event: asked({}, plain) })).toBeUndefined();
});

test("rules of other blocks decide about components: lists, ids, scopes, velocity, conditions, texts", () => {
  const surface = drawn(textOf(), buttonOf("Approve", "approve"));
  const allow = "ag_ui_components: { allow_components: [a2ui-surface, a2ui:Text, a2ui:Button] }\n";
  expect(decide(`${LISTED}${allow}`, { surface })).toBeUndefined();
  const types = decide(
    `${LISTED}ag_ui_components: { allow_components: [a2ui-surface, a2ui:Text] }\n`,
    { surface },
  );
  expect(types).toEqual({
    rule: "ag_ui_components",
    reason: 'unknown component type: a2ui:Button "s/b"',
  });
  const ids = (id: string) =>
    decide(
      `${LISTED}ag_ui_components: { allow_ids: ["a2ui-surface:*", "a2ui:Text:*", "${id}"] }\n`,
      { surface },
    );
  expect(ids("a2ui:Button:s/b")).toBeUndefined();
  expect(ids("a2ui:Button:other/*")?.rule).toBe("ag_ui_components");
  const restricted = LISTED.replace(
    "restricted_classifications: []",
    "restricted_classifications: [submit]",
  );
  const token = (...scopes: string[]) => decide(restricted, { surface, capability: { scopes } });
  expect(decide(restricted, { surface })?.rule).toBe("ag_ui.capability");
  expect(token("ui:submit:a2ui:Button:s/b")).toBeUndefined();
  expect(token("ui:submit:a2ui:Button")).toBeUndefined();
  expect(token("ui:submit:a2ui")).toBeUndefined();
  expect(token("ui:submit:a2ui:Button:s/c", "ui:submit:a2ui:Text")?.rule).toBe("ag_ui.capability");
  const exact = LISTED.replace(
    "restricted_classifications: []",
    `restricted_classifications: []
  capability_scopes: [{ scope_id: "ui:submit:a2ui:Button:s/b", allow_targets: [{ component_type: "a2ui:Button" }] }]`.replace(
      "\n  ",
      ", ",
    ),
  );
  expect(decide(exact, { surface })?.rule).toBe("ag_ui.capability_scopes");
  const velocity = `${LISTED}velocity: { match: { component_type: "a2ui:Button" }, max_invocations: 1, window_seconds: 60 }\n`;
  expect(decide(velocity, { surface })).toBeUndefined();
  expect(decide(velocity, { surface, repeat: 2 })?.rule).toBe("velocity.rule-1");
  expect(decide(velocity, { surface: drawn(textOf()), repeat: 2 })).toBeUndefined();
  const classed = `${restricted}ag_ui_classify: { components: [{ match: "a2ui:Button", classification: display }] }\n`;
  expect(decide(classed, { surface })).toBeUndefined();
  const when = (text: string) =>
    decide(`${LISTED}ag_ui_conditions: { rules: [{ id: one, when: '${text}' }] }\n`, { surface });
  expect(when('event.components.exists(c, c.action == "approve")')?.rule).toBe(
    "ag_ui_conditions.one",
  );
  expect(when('event.components.exists(c, c.type == "a2ui:Modal")')).toBeUndefined();
  const content = decide(`${LISTED}ag_ui_content: {}\n`, {
    surface: drawn(textOf({ label: "![x](https://evil.example/p)" })),
  });
  expect(content?.rule).toBe("ag_ui_content.images");
});

test("observe lets everything pass and names the rule", () => {
  const policy = compilePolicy(
    loadPolicy(`hushspec: "0.1.0"\nmode: observe\nrules:\n${LISTED.replace(/^/gmu, "  ")}`),
  );
  const cases = FAILS.map(([rule, name, surface]): PolicyCase => ({
    name,
    event: EVENT,
    surface,
    expect: { decision: "observe", rule },
  }));
  expect(runCases(policy, cases).results.flatMap(({ differences }) => differences)).toEqual([]);
});

test("a case file has surfaces and clicks", () => {
  const { file, issues } = readCaseFile(
    `cases:
  - name: a password
    event: ${JSON.stringify(EVENT)}
    surface: { catalogue: "${BASIC}", components: [{ component: a2ui:TextField, id: s/f, inputs: [{ label: PIN }] }] }
    expect: { decision: block, rule: ag_ui_surfaces.inputs }
  - name: a click
    event: ${JSON.stringify(asked(click("approve")))}
    shown: { components: [{ component: a2ui:Button, id: s/b, action: approve }] }
    expect: { decision: allow }
`,
    "cases.yaml",
  );
  expect(issues).toEqual([]);
  const { results } = runCases(compilePolicy(loadPolicy(LISTED)), file?.cases ?? []);
  expect(results.flatMap(({ differences }) => differences)).toEqual([]);
});

test.each([
  ["two entries of one catalogue", "ag_ui_surfaces: { catalogues: [{ id: a }, { id: a }] }"],
  [
    "a schema that is none",
    "ag_ui_surfaces: { catalogues: [{ id: a, schemas: { Text: { type: 7 } } }] }",
  ],
  ["two tools of one name", "ag_ui_apps: { tools: [{ name: a }, { name: a }] }"],
  ["a scheme that runs code", "ag_ui_surfaces: { urls: { schemes: [javascript] } }"],
  ["a host with a path", "ag_ui_surfaces: { urls: { hosts: [a.example/x] } }"],
  ["a hash that is none", "ag_ui_apps: { resources: [{ uri: 'ui://a', sha256: abc }] }"],
])("a policy with %s does not load", (_, text) => {
  expect(() => loadPolicy(`${text}\n`)).toThrow();
});

test("weak settings have a note with a fix", () => {
  const { notes } = loadPolicy(`${OPEN}
ag_ui_surfaces: { enabled: false, rendering_tools: [card, render_a2ui], urls: { hosts: ["*"], unknown: allow }, catalogues: [{ id: a, components: [Text], schemas: { Card: {} } }] }
ag_ui_apps: { enabled: false, resources: [{ uri: "*" }] }
`);
  expect(notes.filter(({ message }) => message.includes("Fix:"))).toHaveLength(6);
});

test.each([
  ["a2ui:Button", "order/pay", 0],
  ["a2ui:Button", "order/other", 1],
  ["a2ui:Text", "order/pay", 1],
])("a scope of one button and the target %s %s: %i notes", (type, id, count) => {
  const target = `{ component_type: "${type}", component_id: ${id} }`;
  const { notes } = loadPolicy(
    `ag_ui: { capability_scopes: [{ scope_id: "ui:submit:a2ui:Button:order/pay", allow_targets: [${target}] }] }\n`,
  );
  expect(notes.filter(({ code }) => code === "unreachable")).toHaveLength(count);
});
