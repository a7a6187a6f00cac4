import { canonicalJson, isJsonObject, ownMember, sha256Hex } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type {
  SurfaceComponent,
  SurfaceInfo,
  SurfaceLimits,
  SurfaceUrl,
  UrlUse,
} from "../base/facts.js";
import { readHtml } from "../html/read-html.js";
import type { HtmlReading } from "../html/read-html.js";
import type { Problems } from "../base/problems.js";

/** Something that a client draws as one component: an MCP App or an HTML document. */
export interface View {
  readonly component: SurfaceComponent;
  readonly info: SurfaceInfo;
}

/** Domains that an MCP App may use, by the member of `_meta.ui.csp`. */
const DOMAINS: Readonly<Record<string, UrlUse>> = {
  connectDomains: "connect",
  resourceDomains: "load",
  frameDomains: "frame",
  baseUriDomains: "load",
};
const MAX_TEXTS = 1_000;
const MAX_DOMAINS = 1_000;

/** The view of an `mcp-apps` activity: the page fetches its HTML later. */
export function readApp(content: JsonObject, sourceId: string, isKnown: boolean): View {
  const resourceUri = String(content["resourceUri"]);
  const { toolInput, serverId, serverHash } = content;
  const texts: string[] = [];
  collectTexts([toolInput ?? null, content["result"] ?? null], texts);
  const frame: SurfaceUrl = {
    value: resourceUri,
    use: "frame",
    path: "/resourceUri",
    dataPaths: [],
    isExact: true,
  };
  const resolved: JsonObject = {
    resourceUri,
    toolInput: toolInput ?? null,
    serverId: serverId ?? null,
    serverHash: serverHash ?? null,
  };
  const component = createComponent(
    `mcp-app:${resourceUri}`,
    sourceId,
    "mcp-app",
    isKnown,
    resolved,
    { urls: [frame], texts },
  );
  return {
    component,
    info: createInfo(component, isKnown, {
      app: {
        resourceUri,
        serverId: nameOf(serverId),
        serverHash: nameOf(serverHash),
        hasToolInput: isJsonObject(toolInput),
      },
    }),
  };
}

/** The HTML of an MCP App with the domains and permissions that it asks for. */
export function readResource(
  resource: { readonly uri: string; readonly html: string; readonly meta: JsonValue | undefined },
  sourceId: string,
  isKnown: boolean,
  limits: SurfaceLimits,
  problems: Problems,
): View {
  const ui = ownMember(resource.meta, "ui");
  const declared: SurfaceUrl[] = [];
  for (const url of declaredDomains(ownMember(ui, "csp"))) {
    if (declared.push(url) <= MAX_DOMAINS) continue;
    problems.add(
      "surface/over-limit",
      true,
      sourceId,
      sourceId,
      `The app asks for more than ${MAX_DOMAINS} domains. Fix: ask for fewer.`,
    );
    break;
  }
  const parts = {
    html: resource.html,
    css: "",
    jsFunctions: "",
    jsExpressions: [],
    isComplete: true,
  };
  const reading = readWithin(parts, sourceId, limits, problems);
  const resolved: JsonObject = {
    uri: resource.uri,
    ui: ui ?? null,
    hash: reading?.facts.hash ?? null,
  };
  const component = createComponent(
    `mcp-app:${resource.uri}`,
    sourceId,
    "mcp-app",
    isKnown,
    resolved,
    {
      urls: [...declared, ...(reading?.urls ?? [])],
      inputs: reading?.inputs ?? [],
      texts: reading?.texts ?? [],
    },
  );
  return { component, info: createInfo(component, isKnown, { html: reading?.facts }) };
}

/** Every domain that an app asks for; what has another shape is one too, which no list has. */
function* declaredDomains(csp: JsonValue | undefined): Iterable<SurfaceUrl> {
  if (csp === undefined || csp === null) return;
  const lists = isJsonObject(csp) ? csp : { csp };
  for (const [name, domains] of Object.entries(lists)) {
    const use = Object.hasOwn(DOMAINS, name) ? DOMAINS[name] : undefined;
    const path = `/_meta/ui/csp/${use === undefined ? "other" : name}`;
    for (const domain of Array.isArray(domains) ? domains : domains === null ? [] : [domains]) {
      // Clients read a text in place of a list in different ways.
      const isDomain = typeof domain === "string" && Array.isArray(domains);
      const value = isDomain ? domain : JSON.stringify(domain);
      yield { value, use: use ?? "connect", path, dataPaths: [], isExact: true };
    }
  }
}

/** An open generative UI: HTML, styles and scripts, whole or in pieces. */
export function readSandbox(
  content: JsonObject,
  sourceId: string,
  isComplete: boolean,
  isKnown: boolean,
  limits: SurfaceLimits,
  problems: Problems,
): View {
  const { jsExpressions } = content;
  const parts = {
    html: joined(content["html"]),
    css: joined(content["css"]),
    jsFunctions: joined(content["jsFunctions"]),
    jsExpressions: (Array.isArray(jsExpressions) ? jsExpressions : []).map((one) => joined(one)),
    isComplete,
  };
  const reading = readWithin(parts, sourceId, limits, problems);
  const placeholders = content["placeholderMessages"];
  const texts = [...(reading?.texts ?? [])];
  collectTexts(placeholders ?? null, texts);
  const component = createComponent(
    `html-sandbox:${sourceId}`,
    sourceId,
    "html-sandbox",
    isKnown,
    { hash: reading?.facts.hash ?? null, initialHeight: content["initialHeight"] ?? null },
    {
      urls: reading?.urls ?? [],
      inputs: reading?.inputs ?? [],
      texts,
    },
  );
  return {
    component,
    info: createInfo(component, isKnown, { html: reading?.facts }),
  };
}

function readWithin(
  parts: Parameters<typeof readHtml>[0],
  sourceId: string,
  limits: SurfaceLimits,
  problems: Problems,
): HtmlReading | undefined {
  const length =
    parts.html.length +
    parts.css.length +
    parts.jsFunctions.length +
    parts.jsExpressions.join("").length;
  const reading = length > limits.maxHtmlLength ? undefined : readHtml(parts);
  if (reading === undefined || reading.isOverLimit) {
    problems.add(
      "surface/over-limit",
      true,
      sourceId,
      sourceId,
      "The HTML is longer, or has more URLs or inputs, than allowed. Fix: make it smaller, or raise maxHtmlLength.",
    );
  }
  return reading;
}

function createComponent(
  componentType: string,
  sourceId: string,
  kind: "mcp-app" | "html-sandbox",
  isKnown: boolean,
  resolved: JsonObject,
  shown: Partial<Pick<SurfaceComponent, "urls" | "inputs" | "texts">>,
): SurfaceComponent {
  const { urls = [], inputs = [], texts = [] } = shown;
  return {
    componentType,
    componentId: sourceId,
    surfaceId: sourceId,
    sourceId,
    id: sourceId,
    scope: "/",
    kind,
    classification: inputs.length > 0 ? "submit" : isKnown ? "mutate" : "create",
    catalogueId: undefined,
    props: Object.keys(resolved).toSorted(),
    resolved,
    label: "",
    visibleLabel: "",
    isLabelExact: false,
    accessibilityLabel: undefined,
    actions: [],
    functionCalls: [],
    urls,
    inputs,
    texts,
    subtreeHash: sha256Hex(
      canonicalJson([
        componentType,
        sourceId,
        resolved,
        [...texts],
        urls.map(({ value, use }) => [use, value]),
      ]),
    ),
  };
}

function createInfo(
  { sourceId, kind, componentType }: SurfaceComponent,
  isKnown: boolean,
  parts: Partial<Pick<SurfaceInfo, "app" | "html">>,
): SurfaceInfo {
  return {
    surfaceId: sourceId,
    kind,
    change: isKnown ? "changed" : "created",
    sourceId,
    version: undefined,
    catalogueId: undefined,
    sendDataModel: false,
    theme: undefined,
    componentType,
    app: parts.app,
    html: parts.html,
  };
}

/** Chunks of a text, as deltas leave them, or the text. */
function joined(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return value.map((piece) => joined(piece)).join("");
  return typeof value === "string" ? value : "";
}

function collectTexts(value: JsonValue, into: string[]): void {
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined && into.length < MAX_TEXTS; next = open.pop()) {
    if (typeof next === "string" && next !== "") into.push(next);
    else if (typeof next === "object" && next !== null) {
      const inner = Array.isArray(next)
        ? next
        : Object.entries(next).flatMap(([key, item]) => (key === "type" ? [] : [item]));
      open.push(...inner.toReversed());
    }
  }
}

/** The name of a server; other values become a name that no list has. */
function nameOf(value: JsonValue | undefined): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}
