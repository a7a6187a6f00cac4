import type { JsonObject } from "@countersign/core";
import { RENDERING_ACTIVITIES, RENDERING_TOOLS } from "@countersign/surface";
import type { SurfaceInput, SurfaceLimits } from "@countersign/surface";
import { compileContentSettings } from "../content/settings.js";
import type { ContentSettings } from "../content/settings.js";
import type { AppsBlock, PolicyDocument, SurfacesBlock } from "../document/model.js";
import { createNameTable } from "../patterns/name-table.js";
import { DEFAULT_URL_LENGTH } from "../schema/surfaces.js";
import { compileSensitiveInputs } from "../surface/sensitive-inputs.js";
import { BASIC_COMPONENTS } from "../vocabulary/basic-components.js";
import type { UrlSettings } from "../surface/urls.js";
import { compileArgumentSchema } from "../tools/argument-schema.js";
import type { ArgumentCheck } from "../tools/argument-schema.js";

/** The `id` of a catalogue entry for surfaces that name none. */
export const UNNAMED_CATALOGUE = "unnamed";

/** A name on a list. */
export type NameCheck = (name: string) => boolean;

/** One catalogue with its defaults. */
export type CatalogueSettings = {
  readonly allowsComponent: NameCheck;
  /** Undefined: the functions of the basic catalogue. */
  readonly allowsFunction: NameCheck | undefined;
  readonly schemas: ReadonlyMap<string, ArgumentCheck>;
  readonly hash: string | undefined;
};

/** `ag_ui_surfaces` with its defaults. */
export type SurfaceSettings = {
  readonly catalogues: ReadonlyMap<string, CatalogueSettings>;
  readonly allowsOverrides: boolean;
  readonly blocksFunction: NameCheck;
  readonly allowsAgentCall: NameCheck;
  readonly allowsAgentFunction: NameCheck;
  readonly urls: UrlSettings;
  /** How the texts of components are read for URLs, where the policy has no `ag_ui_content` that does. */
  readonly texts: ContentSettings | undefined;
  /** The words that make an input sensitive; undefined where sensitive inputs are allowed. */
  readonly sensitive: ((input: SurfaceInput) => string | undefined) | undefined;
  readonly blocksContradictions: boolean;
  readonly allowsDataModel: boolean;
  /** For the model of a thread. */
  readonly limits: Partial<SurfaceLimits>;
  /** Beside those that the model knows. */
  readonly renderingTools: readonly string[];
  readonly renderingActivities: readonly string[];
  /** Whether the arguments of a tool are an interface: its calls are held until they are complete. */
  isRenderingTool(name: string): boolean;
  /** Whether a page draws the activities of a type. */
  isRenderingActivity(type: string): boolean;
};

/** Fills in the defaults of `ag_ui_surfaces`, which also apply without the block. */
export function compileSurfaceSettings({ rules }: PolicyDocument): SurfaceSettings {
  const block: SurfacesBlock = rules.ag_ui_surfaces ?? {};
  const { inputs, limits = {} } = block;
  const { rendering_tools: renderingTools = [], rendering_activities: renderingActivities = [] } =
    block;
  const tools = new Set([...RENDERING_TOOLS.a2ui, ...RENDERING_TOOLS.html, ...renderingTools]);
  const activities = new Set([...RENDERING_ACTIVITIES, ...renderingActivities]);
  return {
    renderingTools,
    renderingActivities,
    isRenderingTool: (name) => tools.has(name),
    isRenderingActivity: (type) => activities.has(type),
    catalogues: new Map(
      (block.catalogues ?? []).map((entry): [string, CatalogueSettings] => [
        entry.id,
        {
          allowsComponent: namesOf(entry.components ?? BASIC_COMPONENTS),
          allowsFunction: entry.functions === undefined ? undefined : namesOf(entry.functions),
          schemas: schemasOf(entry.schemas),
          hash: entry.hash,
        },
      ]),
    ),
    allowsOverrides: block.overrides === "allow",
    blocksFunction: namesOf(block.block_functions),
    allowsAgentCall: namesOf(block.agent_calls),
    allowsAgentFunction: namesOf(block.agent_functions),
    urls: urlSettings(block.urls),
    texts: compileContentSettings({ rules }) === undefined ? textSettings(block.urls) : undefined,
    sensitive:
      inputs?.sensitive === "allow" ? undefined : compileSensitiveInputs(inputs?.words ?? []),
    blocksContradictions: block.labels?.contradiction !== "allow",
    allowsDataModel: block.send_data_model === "allow",
    limits: {
      ...(limits.surfaces === undefined ? {} : { maxSurfaces: limits.surfaces }),
      ...(limits.components === undefined ? {} : { maxComponents: limits.components }),
      ...(limits.depth === undefined ? {} : { maxDepth: limits.depth }),
      ...(limits.text_length === undefined ? {} : { maxTextLength: limits.text_length }),
      ...(limits.html_length === undefined ? {} : { maxHtmlLength: limits.html_length }),
    },
  };
}

/** Markdown loads images without a click, and a link may run code. The `Text` of A2UI has no HTML. */
function textSettings({ hosts = [] }: SurfacesBlock["urls"] = {}): ContentSettings | undefined {
  const images = hosts.includes("*") ? "allow" : "block";
  const image_hosts = hosts.filter((host) => host !== "*");
  return compileContentSettings({
    rules: { ag_ui_content: { images, image_hosts, markup: "allow", hidden: "allow" } },
  });
}

function urlSettings(urls: SurfacesBlock["urls"] = {}): UrlSettings {
  return {
    schemes: new Set(urls.schemes ?? ["https"]),
    hosts: hostsOf(urls.hosts),
    allowsRelative: urls.relative === "allow",
    allowsUnknown: urls.unknown === "allow",
    maxLength: urls.max_length ?? DEFAULT_URL_LENGTH,
  };
}

/** Hosts in lower case; undefined for any. */
function hostsOf(hosts: readonly string[] = []): ReadonlySet<string> | undefined {
  return hosts.includes("*") ? undefined : new Set(hosts.map((host) => host.toLowerCase()));
}

function schemasOf(schemas: { readonly [name: string]: unknown } = {}): Map<string, ArgumentCheck> {
  return new Map(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      compileArgumentSchema(schema as JsonObject),
    ]),
  );
}

function namesOf(patterns: readonly string[] = []): NameCheck {
  const table = createNameTable(patterns.map((pattern) => [pattern, true]));
  return (name) => table.find(name) === true;
}

/** A directive of the Content-Security-Policy of an app. */
export type AppDirective = "connect" | "resource" | "frame" | "base";

/** `ag_ui_apps` with its defaults. */
export type AppSettings = {
  allowsServer(name: string): boolean;
  /** Whether some entry covers a resource and, if it is known, its HTML. */
  allowsResource(uri: string, hash: string | undefined): boolean;
  /** The tools that apps may call, with the check of their arguments. */
  readonly tools: ReadonlyMap<
    string,
    { readonly isForApps: boolean; readonly check: ArgumentCheck }
  >;
  readonly methods: ReadonlySet<string>;
  /** Domains for each directive, for intersecting what an app declares; undefined for any. */
  readonly csp: Readonly<Record<AppDirective, ReadonlySet<string> | undefined>>;
  readonly permissions: ReadonlySet<string>;
  readonly allowsHtml: boolean;
  readonly html: {
    readonly maxBytes: number;
    readonly allowsForms: boolean;
    readonly allowsScripts: boolean;
  };
};

/** Fills in the defaults of `ag_ui_apps`, which also apply without the block. */
export function compileAppSettings({ rules }: PolicyDocument): AppSettings {
  const block: AppsBlock = rules.ag_ui_apps ?? {};
  const { html, csp } = block;
  const servers = new Set(block.servers);
  const resources = (block.resources ?? []).map(({ uri, sha256 }) => ({
    covers: namesOf([uri]),
    sha256,
  }));
  return {
    allowsServer: (name) => servers.has(name),
    allowsResource: (uri, hash) =>
      resources.some(
        ({ covers, sha256 }) =>
          covers(uri) && (sha256 === undefined || hash === undefined || sha256 === hash),
      ),
    tools: new Map(
      (block.tools ?? []).map(({ name, visibility, arguments: schema }) => [
        name,
        {
          isForApps: visibility === undefined || visibility.includes("app"),
          check: schema === undefined ? () => true : compileArgumentSchema(schema as JsonObject),
        },
      ]),
    ),
    methods: new Set(block.methods ?? ["tools/call", "resources/read", "ping"]),
    csp: {
      connect: hostsOf(csp?.connect),
      resource: hostsOf(csp?.resource),
      frame: hostsOf(csp?.frame),
      base: hostsOf(csp?.base),
    },
    permissions: new Set(block.permissions),
    allowsHtml: block.sandboxed_html === "allow",
    html: {
      maxBytes: html?.max_bytes ?? 262_144,
      allowsForms: html?.forms === "allow",
      allowsScripts: html?.scripts === "allow",
    },
  };
}
