import type { JsonObject, JsonValue } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceModel, SurfacePayload } from "@countersign/surface";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { classifyEvent } from "../classify/event.js";
import { compilePolicy } from "../compile/compile.js";
import type { Decision } from "../compile/decision.js";
import { NO_COUNTERS } from "../compile/facts.js";
import { loadPolicy } from "../document/load.js";
import { matchSurfaceRequest, readSurfaceRequests } from "./request.js";
import { addSurface } from "./view.js";

const BASIC = "https://a2ui.org/specification/v0_9/basic_catalog.json";
const policy = compilePolicy(
  loadPolicy(`
ag_ui: { allow_display_without_capability: true, restricted_classifications: [] }
ag_ui_surfaces:
  catalogues: [{ id: "${BASIC}" }]
  urls: { hosts: [images.example.org] }
ag_ui_apps:
  servers: [weather]
  resources: [{ uri: "ui://weather/*" }]
  csp: { connect: [api.example.org] }
`),
);
const ACTIVITY = {
  type: "ACTIVITY_SNAPSHOT",
  messageId: "m",
  activityType: "a2ui-surface",
  content: {},
  replace: true,
} as const;

/** An event at the gateway: a blocked one is taken back. */
function show(model: SurfaceModel, payload: SurfacePayload): Decision {
  const facts = model.apply(payload);
  const decision = policy.evaluate({
    event: addSurface(classifyEvent(ACTIVITY, policy), facts, policy.refinements),
    surface: { facts, shown: model.surfaces },
    transport: "sse",
    counters: NO_COUNTERS,
  });
  if (!decision.allow) model.undo();
  return decision;
}

const surface = (components: JsonValue[], value: JsonObject = {}): SurfacePayload => ({
  kind: "activity",
  messageId: "m",
  activityType: "a2ui-surface",
  content: {
    a2ui_operations: [
      { version: "v0.9", createSurface: { surfaceId: "s", catalogId: BASIC } },
      { version: "v0.9", updateComponents: { surfaceId: "s", components } },
      { version: "v0.9", updateDataModel: { surfaceId: "s", path: "/", value } },
    ],
  },
});
const card = (title: string, action: string): SurfacePayload =>
  surface(
    [
      { id: "root", component: "Button", child: "t", action: { event: { name: action } } },
      { id: "t", component: "Text", text: { path: "/title" } },
    ],
    { title },
  );
const ruleOf = (decision: Decision): string | undefined =>
  decision.allow ? undefined : decision.rule;

test("a label in one event and its action in a later one are judged together", () => {
  const model = createSurfaceModel({ limits: policy.surfaces.limits });
  expect(ruleOf(show(model, card("View invoice", "view")))).toBeUndefined();
  const late = show(model, card("View invoice", "transfer"));
  expect(late).toMatchObject({
    rule: "ag_ui_surfaces.labels",
    component: { type: "a2ui:Button", id: "s/root", action: "transfer" },
  });
  expect(ruleOf(show(model, card("Transfer", "transfer")))).toBeUndefined();
});

test("a click passes on what was drawn, and not on what was blocked", () => {
  const model = createSurfaceModel();
  show(model, card("View", "view"));
  show(model, card("View", "pay"));
  const click = (name: string) => {
    const userAction = { name, surfaceId: "s", sourceComponentId: "root" };
    const [request] = readSurfaceRequests({ forwardedProps: { a2uiAction: { userAction } } });
    return request === undefined ? undefined : matchSurfaceRequest(request, model).refusal?.code;
  };
  expect([click("view"), click("pay")]).toEqual([undefined, "action_not_shown"]);
});

test("a URL that is put together from data is judged as a whole", () => {
  const image = (host: string): SurfacePayload =>
    surface([{ id: "root", component: "Image", url: { path: "/url" } }], {
      url: `https://${host}/a.png`,
    });
  expect(ruleOf(show(createSurfaceModel(), image("images.example.org")))).toBeUndefined();
  expect(ruleOf(show(createSurfaceModel(), image("evil.example")))).toBe("ag_ui_surfaces.urls");
});

test("a login form is blocked, and so is a surface that names no catalogue of the list", () => {
  const form = surface([
    { id: "root", component: "TextField", label: "Password", value: { path: "/password" } },
  ]);
  expect(ruleOf(show(createSurfaceModel(), form))).toBe("ag_ui_surfaces.inputs");
  const other = JSON.parse(JSON.stringify(card("View", "view")).replace(BASIC, "other")) as never;
  expect(ruleOf(show(createSurfaceModel(), other))).toBe("ag_ui_surfaces.catalogues");
});

const RESOURCE = "ui://weather/view";
const page = (ui: JsonObject): SurfacePayload => ({
  kind: "resource",
  sourceId: "r",
  content: {
    contents: [
      {
        uri: RESOURCE,
        mimeType: "text/html;profile=mcp-app",
        text: "<p>Sunny</p>",
        _meta: { ui },
      },
    ],
  },
});

test("an MCP App of a listed server is shown with the domains and permissions of the lists", () => {
  const model = createSurfaceModel();
  const app = (serverId: string): SurfacePayload => ({
    kind: "activity",
    messageId: "m",
    activityType: "mcp-apps",
    content: { result: { content: [] }, resourceUri: RESOURCE, serverId, toolInput: {} },
  });
  expect(ruleOf(show(model, app("mail")))).toBe("ag_ui_apps.servers");
  expect(ruleOf(show(model, app("weather")))).toBeUndefined();
  const csp = (connectDomains: string[]) => page({ csp: { connectDomains } });
  expect(ruleOf(show(model, csp(["https://api.example.org"])))).toBeUndefined();
  expect(ruleOf(show(model, csp(["api.example.org; script-src *"])))).toBe("ag_ui_apps.csp");
  expect(ruleOf(show(model, page({ permissions: { camera: {} } })))).toBe("ag_ui_apps.permissions");
});

test("HTML of an agent is blocked", () => {
  const html = show(createSurfaceModel(), {
    kind: "activity",
    messageId: "m",
    activityType: "open-generative-ui",
    content: { html: ["<p>hello</p>"], htmlComplete: true, generating: false },
  });
  expect(ruleOf(html)).toBe("ag_ui_apps.html");
});

/** Parts with the word "Delete" where no person sees it before a click; `of` is the id of the part. */
const HIDDEN: readonly ((of: string) => JsonValue[])[] = [
  (of) => [
    { id: of, component: "Modal", trigger: `${of}t`, content: `${of}c` },
    { id: `${of}t`, component: "Divider" },
    { id: `${of}c`, component: "Text", text: "Delete" },
  ],
  (of) => [
    {
      id: of,
      component: "Tabs",
      tabs: [
        { title: "Invoice", child: `${of}t` },
        { title: "More", child: `${of}c` },
      ],
    },
    { id: `${of}t`, component: "Divider" },
    { id: `${of}c`, component: "Card", child: `${of}d` },
    { id: `${of}d`, component: "Text", text: { path: "/harm" } },
  ],
  (of) => [
    { id: of, component: "Image", url: "https://images.example.org/a", description: "Delete" },
  ],
  (of) => [
    { id: of, component: "Video", url: "https://images.example.org/a", description: "Delete" },
  ],
  (of) => [{ id: of, component: "Icon", name: "delete" }],
  (of) => [{ id: of, component: "Divider", note: "Delete" }],
  (of) => [{ id: of, component: "DateTimeInput", label: "Delete", value: { path: "/date" } }],
  (of) => [
    { id: of, component: "TextField", label: "Name", placeholder: "Delete", value: { path: "/n" } },
  ],
  (of) => [{ id: of, component: "MultipleChoice", label: "Delete", options: [] }],
  (of) => [
    { id: of, component: "Text", text: "", note: `${of}c` },
    { id: `${of}c`, component: "Text", text: "Delete" },
  ],
  (of) => [{ id: of, component: "Text", text: { path: "/object" } }],
  (of) => [
    {
      id: of,
      component: "Text",
      text: { call: "formatDate", args: { value: "Delete 1", format: "y" } },
    },
  ],
];
const hidden = fc.array(fc.constantFrom(...HIDDEN), { minLength: 1, maxLength: 4 });
const drawnButton = (
  text: string,
  name: string,
  parts: readonly ((of: string) => JsonValue[])[],
  isFirst: boolean,
): SurfacePayload => {
  const ids = parts.map((_, index) => `h${index}`);
  const children = isFirst ? [...ids, "t"] : ["t", ...ids];
  return surface(
    [
      { id: "root", component: "Button", child: "all", action: { event: { name } } },
      { id: "all", component: "Row", children },
      { id: "t", component: "Text", text },
      ...parts.flatMap((part, index) => part(`h${index}`)),
    ],
    { harm: "Delete", object: { a: "Delete" } },
  );
};

test("no invisible part makes a lying button look honest", () => {
  const promise = fc.constantFrom("View", "Close", "Not now", "Ansehen");
  const harm = fc.constantFrom("delete_account", "payNow", "transfer");
  const property = fc.property(
    promise,
    harm,
    hidden,
    fc.boolean(),
    (text, name, parts, isFirst) => {
      const shown = show(createSurfaceModel(), drawnButton(text, name, parts, isFirst));
      expect(ruleOf(shown)).toBe("ag_ui_surfaces.labels");
    },
  );
  fc.assert(property, { numRuns: 300 });
});

test("a button that says what it does passes with any picture, icon, modal or tab in it", () => {
  const honest = fc.constantFrom<[string, string]>(
    ["Delete", "delete_account"],
    ["Pay now", "payNow"],
    ["View invoice", "view_invoice"],
    ["", "delete_account"],
  );
  const property = fc.property(honest, hidden, fc.boolean(), ([text, name], parts, isFirst) => {
    const shown = show(createSurfaceModel(), drawnButton(text, name, parts, isFirst));
    expect(ruleOf(shown)).toBeUndefined();
  });
  fc.assert(property, { numRuns: 300 });
});

test.each(["View of the house", "Close", "Details"])(
  "a picture described as %s does not block a button with an honest text",
  (description) => {
    const picture = (of: string): JsonValue[] => [
      { id: of, component: "Image", url: "https://images.example.org/a", description },
      { id: `${of}x`, component: "Icon", name: "close" },
    ];
    for (const isFirst of [true, false]) {
      const shown = show(createSurfaceModel(), drawnButton("Delete", "delete", [picture], isFirst));
      expect(ruleOf(shown)).toBeUndefined();
    }
  },
);

test("texts of a tab that is open and of the entry point of a modal count", () => {
  const parts = (of: string): JsonValue[] => [
    { id: of, component: "Tabs", tabs: [{ title: "Invoice", child: `${of}m` }] },
    { id: `${of}m`, component: "Modal", trigger: `${of}t`, content: `${of}c` },
    { id: `${of}t`, component: "Text", text: "Delete it" },
    { id: `${of}c`, component: "Text", text: "Sure?" },
  ];
  const shown = show(createSurfaceModel(), drawnButton("View", "delete", [parts], false));
  expect(ruleOf(shown)).toBeUndefined();
});
