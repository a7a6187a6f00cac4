import type { JsonObject, JsonValue } from "@countersign/core";
import { createSurfaceModel } from "@countersign/surface";
import type { SurfaceModel, SurfacePayload } from "@countersign/surface";
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
