import type { JsonObject, JsonValue } from "@countersign/core";
import { sha256Hex } from "@countersign/core";
import type {
  SurfaceComponent,
  SurfaceFacts,
  SurfaceInfo,
  SurfaceInput,
  SurfaceUrl,
} from "@countersign/surface";
import type { Classification } from "../vocabulary/classification.js";
import { CLASSIFICATIONS } from "../vocabulary/classification.js";
import type { JsonSchema } from "../schema/json-schema.js";
import { choice, closed, flag, list, text } from "../schema/json-schema.js";
import type { ShownToThread } from "../surface/request.js";
import type { SurfaceView } from "../surface/view.js";

/** An input of a case. */
type InputCase = { label?: string; id?: string; path?: string; hints?: string[]; secret?: boolean };

/** A component of a case: what a person gets, without the operations that draw it. */
export type ComponentCase = {
  component: string;
  id: string;
  classification?: Classification;
  catalogue?: string;
  label?: string;
  accessibility_label?: string;
  action?: string;
  context_keys?: string[];
  properties?: JsonObject;
  texts?: string[];
  urls?: string[];
  /** URLs that a person's typing or an unknown function changes. */
  unknown_urls?: string[];
  /** Of an MCP App: the members of `_meta.ui.csp`. */
  csp?: { [member: string]: string[] };
  functions?: string[];
  agent_functions?: string[];
  inputs?: InputCase[];
};

/** The generative UI of a case. */
export type SurfaceCase = {
  catalogue?: string;
  send_data_model?: boolean;
  components?: ComponentCase[];
  /** Functions that the agent runs in the page. */
  agent_calls?: string[];
  /** Why the surface is not certain. */
  undecided?: string;
  server?: string;
  server_hash?: string;
  html?: { hash?: string; bytes?: number; forms?: number; scripts?: number };
};

const names = (description: string): JsonSchema => list(description, text("A text.", 4000), 1000);

const componentCase = closed(
  "One component.",
  {
    component: text("Its type: a2ui:Button, mcp-app:ui://…, html-sandbox:ID.", 1024),
    id: text("`<surface>/<id>`.", 1024),
    classification: choice("Its class; by default that of its kind.", CLASSIFICATIONS),
    catalogue: text("A catalogue that it names itself.", 1024),
    label: text("The text on it.", 10_000),
    accessibility_label: text("The text for screen readers.", 10_000),
    action: text("The name of its action.", 1024),
    context_keys: names("The context that the action declares."),
    properties: { type: "object", additionalProperties: true, description: "Its properties." },
    texts: names("Further texts on it."),
    urls: names("URLs that it loads or opens."),
    unknown_urls: names("URLs that a person's typing or an unknown function changes."),
    csp: {
      type: "object",
      description: "Of an MCP App: domains by member of `_meta.ui.csp`.",
      additionalProperties: names("Domains."),
    },
    functions: names("Functions of the basic catalogue that it calls."),
    agent_functions: names("Functions that the page does not know."),
    inputs: list(
      "What it asks for.",
      closed("One input.", {
        label: text("Its label.", 4000),
        id: text("Its id."),
        path: text("Its data path.", 1024),
        hints: names("Placeholder, options."),
        secret: flag("Whether it hides what is typed.", false),
      }),
      100,
    ),
  },
  ["component", "id"],
);

/** The grammar of `surface` in a case. */
export const SURFACE_CASE_SCHEMA: JsonSchema = closed("The generative UI that the event draws.", {
  catalogue: text("The catalogue of the surface.", 1024),
  send_data_model: flag("Whether the page sends its whole data model.", false),
  components: list("The components, resolved.", componentCase, 1000),
  agent_calls: names("Functions that the agent runs in the page."),
  undecided: text("Why the surface is not certain.", 1000),
  server: text("The `serverId` of an MCP App."),
  server_hash: text("Its `serverHash`."),
  html: closed("Measures of the HTML of an app or of an agent.", {
    hash: text("SHA-256.", 64),
    bytes: { type: "integer", description: "Its bytes.", minimum: 0, maximum: 1e9 },
    forms: { type: "integer", description: "Its forms.", minimum: 0, maximum: 1e6 },
    scripts: { type: "integer", description: "Its scripts.", minimum: 0, maximum: 1e6 },
  }),
});

/** The grammar of `shown` in a case. */
export const SHOWN_CASE_SCHEMA: JsonSchema = {
  ...SURFACE_CASE_SCHEMA,
  description: "The generative UI that the thread shows before a request.",
};

/** The facts of a surface as a case describes it. */
export function surfaceOfCase(surface: SurfaceCase): SurfaceView {
  const components = (surface.components ?? []).map((one) => componentOf(one));
  const sources = new Set(components.map(({ surfaceId }) => surfaceId));
  const surfaces = [...sources].map((surfaceId) => {
    const one = components.find((component) => component.surfaceId === surfaceId);
    return infoOf(surface, surfaceId, one);
  });
  const facts: SurfaceFacts = {
    isSurface: true,
    components,
    removed: [],
    surfaces,
    functionCalls: (surface.agent_calls ?? []).map((name) => callOf(name, true)),
    problems:
      surface.undecided === undefined
        ? []
        : [
            {
              code: "surface/unreadable",
              isUndecided: true,
              surfaceId: undefined,
              place: "",
              sentence: surface.undecided,
            },
          ],
  };
  return { facts, shown: surfaces };
}

/** The components that a thread shows, for the clicks of a request. */
export function threadOfCase(shown: SurfaceCase | undefined): ShownToThread {
  const { facts, shown: surfaces } = surfaceOfCase(shown ?? {});
  return {
    surfaces,
    findAction(surfaceId, componentId, name) {
      const found = facts.components.find(
        (one) => one.surfaceId === surfaceId && one.id === componentId,
      );
      const action = found?.actions.find((one) => one.name === name);
      if (found === undefined || action === undefined) return undefined;
      const { componentType, subtreeHash, label, kind, scope } = found;
      return {
        componentType,
        componentId: found.componentId,
        scopes: [scope],
        action,
        label,
        subtreeHash,
        surfaceKind: kind,
      };
    },
  };
}

function componentOf(one: ComponentCase): SurfaceComponent {
  const { component, id, action, label = "", texts = [] } = one;
  const slash = id.indexOf("/");
  const surfaceId = slash === -1 ? id : id.slice(0, slash);
  const inputs = (one.inputs ?? []).map((input) => inputOf(input, id));
  const resolved = one.properties ?? {};
  return {
    componentType: component,
    componentId: id,
    surfaceId,
    sourceId: surfaceId,
    id: id.slice(slash + 1),
    scope: "/",
    kind: kindOf(component),
    classification: one.classification ?? classOf(component, action, inputs),
    catalogueId: one.catalogue,
    props: Object.keys(resolved).toSorted(),
    resolved,
    label,
    visibleLabel: label,
    isLabelExact: true,
    accessibilityLabel: one.accessibility_label,
    actions:
      action === undefined
        ? []
        : [
            {
              name: action,
              kind: "event",
              contextKeys: one.context_keys ?? [],
              context: {},
              path: "/action",
            },
          ],
    functionCalls: [
      ...(one.functions ?? []).map((name) => callOf(name, true)),
      ...(one.agent_functions ?? []).map((name) => callOf(name, false)),
    ],
    urls: [
      ...(one.urls ?? []).map((value) => urlOf(value, true, "/url")),
      ...(one.unknown_urls ?? []).map((value) => urlOf(value, false, "/url")),
      ...Object.entries(one.csp ?? {}).flatMap(([member, domains]) =>
        domains.map((value) => urlOf(value, true, `/_meta/ui/csp/${member}`)),
      ),
    ],
    inputs,
    texts,
    subtreeHash: sha256Hex(JSON.stringify(one as unknown as JsonValue)),
  };
}

function urlOf(value: string, isExact: boolean, path: string): SurfaceUrl {
  return { value, use: "image", path, dataPaths: [], isExact };
}

function kindOf(component: string): SurfaceComponent["kind"] {
  if (component.startsWith("mcp-app:")) return "mcp-app";
  return component.startsWith("html-sandbox:") ? "html-sandbox" : "a2ui";
}

function classOf(
  component: string,
  action: string | undefined,
  inputs: readonly SurfaceInput[],
): Classification {
  if (action !== undefined || inputs.length > 0) return "submit";
  return component === "a2ui:Modal" ? "alert" : "create";
}

function inputOf(
  { label = "", id, path, hints = [], secret = false }: InputCase,
  componentId: string,
): SurfaceInput {
  return {
    label,
    id: id ?? componentId.slice(componentId.indexOf("/") + 1),
    boundPath: path,
    type: secret ? "obscured" : "text",
    isSecret: secret,
    hints,
  };
}

function callOf(name: string, isBasic: boolean) {
  return { name, args: {}, caller: "unknown" as const, isBasic, path: "/call" };
}

function infoOf(
  { catalogue, send_data_model, server, server_hash, html }: SurfaceCase,
  surfaceId: string,
  component: SurfaceComponent | undefined,
): SurfaceInfo {
  const kind = component?.kind ?? "a2ui";
  const hasServer = server !== undefined || server_hash !== undefined;
  return {
    surfaceId,
    kind,
    change: "created",
    sourceId: surfaceId,
    version: kind === "a2ui" ? "0.9" : undefined,
    catalogueId: catalogue,
    sendDataModel: send_data_model ?? false,
    theme: undefined,
    app:
      kind === "mcp-app" && (hasServer || html === undefined)
        ? {
            resourceUri: component?.componentType.slice("mcp-app:".length) ?? "",
            serverId: server,
            serverHash: server_hash,
            hasToolInput: false,
          }
        : undefined,
    html:
      html === undefined
        ? undefined
        : {
            bytes: html.bytes ?? 0,
            styleBytes: 0,
            scriptBytes: 0,
            hash: html.hash ?? "",
            isComplete: true,
            forms: html.forms ?? 0,
            scripts: html.scripts ?? 0,
            frames: 0,
          },
  };
}
