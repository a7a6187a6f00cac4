import { canonicalJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { BASIC_COMPONENTS } from "../vocabulary/basic-components.js";
import { blockSettings } from "../compile/rule.js";
import type {
  AppsBlock,
  AppTool,
  BlockHeader,
  CatalogueEntry,
  DefaultAction,
  PolicyDocument,
  SurfacesBlock,
} from "../document/model.js";
import { DEFAULT_URL_LENGTH } from "../schema/surfaces.js";
import type { PolicyChange } from "./change.js";
import type { Names } from "./compare-values.js";
import { compareChoice, compareLimit, compareNames } from "./compare-values.js";
import { coversGlob, coversSame } from "./covers.js";
import { pairByName } from "./pairs.js";
import type { Strength } from "./strength.js";
import { compareOnBlock, compareStrength } from "./strength.js";

const ACTIONS = ["allow", "block"] as const;

/** Compares `ag_ui_surfaces`, whose defaults also apply without the block. */
export function compareSurfaces(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [old, now] = [before.rules.ag_ui_surfaces ?? {}, after.rules.ag_ui_surfaces ?? {}];
  return [
    // This rule stays where the block is disabled.
    ...compareStrength("mode of undecided", modeOf(before, old), modeOf(after, now)),
    ...compareDefaults([before, after], [old, now], compareSurfaceSettings),
  ];
}

/** Compares `ag_ui_apps`, whose defaults also apply without the block. */
export function compareApps(before: PolicyDocument, after: PolicyDocument): PolicyChange[] {
  const [old, now] = [before.rules.ag_ui_apps ?? {}, after.rules.ag_ui_apps ?? {}];
  return compareDefaults([before, after], [old, now], compareAppSettings);
}

function modeOf(document: PolicyDocument, block: BlockHeader): Strength {
  return blockSettings(document, block).mode;
}

/** Like `compareBlocks`, for blocks that a document has even where it does not write them. */
function compareDefaults<Block extends BlockHeader>(
  [before, after]: readonly [PolicyDocument, PolicyDocument],
  [old, now]: readonly [Block, Block],
  compare: (old: Block, now: Block) => PolicyChange[],
): PolicyChange[] {
  const strength = (document: PolicyDocument, block: Block): Strength =>
    block.enabled === false ? "off" : modeOf(document, block);
  return [
    ...compareStrength("mode", strength(before, old), strength(after, now)),
    ...(old.enabled === false || now.enabled === false ? [] : compare(old, now)),
    ...compareOnBlock(blockSettings(before, old).onBlock, blockSettings(after, now).onBlock),
  ];
}

function compareSurfaceSettings(old: SurfacesBlock, now: SurfacesBlock): PolicyChange[] {
  const [urls, newUrls] = [old.urls ?? {}, now.urls ?? {}];
  return [
    ...compareDrawn("rendering_tools", old.rendering_tools, now.rendering_tools),
    ...compareDrawn("rendering_activities", old.rendering_activities, now.rendering_activities),
    ...pairByName(old.catalogues ?? [], now.catalogues ?? [], ({ id }) => id).flatMap(
      ({ name, before, after }) => compareCatalogue(`catalogues ${name}`, before, after),
    ),
    ...compareAction("overrides", old.overrides, now.overrides),
    ...stricterNames("block_functions", old.block_functions, now.block_functions),
    ...looserNames("agent_calls", old.agent_calls, now.agent_calls),
    ...looserNames("agent_functions", old.agent_functions, now.agent_functions),
    ...looserNames("urls.schemes", urls.schemes ?? ["https"], newUrls.schemes ?? ["https"]),
    ...compareHosts("urls.hosts", urls.hosts, newUrls.hosts),
    ...compareAction("urls.relative", urls.relative, newUrls.relative),
    ...compareAction("urls.unknown", urls.unknown, newUrls.unknown),
    ...compareLimit(
      "urls.max_length",
      urls.max_length ?? DEFAULT_URL_LENGTH,
      newUrls.max_length ?? DEFAULT_URL_LENGTH,
    ),
    ...compareAction("inputs.sensitive", old.inputs?.sensitive, now.inputs?.sensitive),
    ...(old.inputs?.sensitive === "allow" || now.inputs?.sensitive === "allow"
      ? []
      : compareNames(
          "inputs.words",
          old.inputs?.words ?? [],
          now.inputs?.words ?? [],
          "stricter",
          coversSame,
        )),
    ...compareAction("labels.contradiction", old.labels?.contradiction, now.labels?.contradiction),
    ...compareAction("send_data_model", old.send_data_model, now.send_data_model),
    ...Object.entries(LIMITS).flatMap(([key, value]) =>
      compareLimit(
        `limits.${key}`,
        old.limits?.[key as keyof typeof LIMITS] ?? value,
        now.limits?.[key as keyof typeof LIMITS] ?? value,
      ),
    ),
  ];
}

/** Defaults of the model, as the schema documents them. */
const LIMITS = {
  surfaces: 64,
  components: 10_000,
  depth: 100,
  text_length: 65_536,
  html_length: 1_048_576,
} as const;

function compareCatalogue(
  setting: string,
  before: CatalogueEntry | undefined,
  after: CatalogueEntry | undefined,
): PolicyChange[] {
  if (before === undefined) {
    return [{ setting, kind: "added", effect: "looser", says: "listed from now on" }];
  }
  if (after === undefined) {
    return [{ setting, kind: "removed", effect: "stricter", says: "not listed any more" }];
  }
  return [
    ...compareNames(
      `${setting} components`,
      before.components ?? BASIC_COMPONENTS,
      after.components ?? BASIC_COMPONENTS,
      "looser",
      coversGlob,
    ),
    ...compareFunctions(`${setting} functions`, before.functions, after.functions),
    ...compareSchemas(`${setting} schemas`, before.schemas ?? {}, after.schemas ?? {}),
    ...compareHash(`${setting} hash`, before.hash, after.hash),
  ];
}

/** Without a list those of the basic catalogue: which of them a list has is not known here. */
function compareFunctions(
  setting: string,
  before: readonly string[] | undefined,
  after: readonly string[] | undefined,
): PolicyChange[] {
  if (before !== undefined && after !== undefined) return looserNames(setting, before, after);
  if (before === after) return [];
  const list = (before ?? after ?? []) as readonly string[];
  const isAny = list.includes("*");
  const isNone = list.length === 0;
  const listIs = isAny ? "looser" : isNone ? "stricter" : "both";
  const effect =
    listIs === "both"
      ? "both"
      : (listIs === "looser") === (after !== undefined)
        ? "looser"
        : "stricter";
  const says = (names: readonly string[] | undefined): string =>
    names === undefined ? "basic" : names.join(", ") || "none";
  return [{ setting, kind: "changed", effect, says: `${says(before)} → ${says(after)}` }];
}

/** In general it is undecidable which of two schemas accepts more. */
function compareSchemas(
  setting: string,
  before: { readonly [name: string]: JsonValue },
  after: { readonly [name: string]: JsonValue },
): PolicyChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
    compareSchema(
      `${setting} ${name}`,
      Object.hasOwn(before, name) ? before[name] : undefined,
      Object.hasOwn(after, name) ? after[name] : undefined,
    ),
  );
}

function compareSchema(
  setting: string,
  before: JsonValue | undefined,
  after: JsonValue | undefined,
): PolicyChange[] {
  if (before === undefined && after === undefined) return [];
  if (before === undefined) {
    return [{ setting, kind: "added", effect: "stricter", says: "has a schema from now on" }];
  }
  if (after === undefined) {
    return [{ setting, kind: "removed", effect: "looser", says: "has no schema any more" }];
  }
  if (canonicalJson(before) === canonicalJson(after)) return [];
  return [{ setting, kind: "changed", effect: "both", says: "another schema: may be either" }];
}

/** A catalogue of the client passes only with a hash. */
function compareHash(
  setting: string,
  before: string | undefined,
  after: string | undefined,
): PolicyChange[] {
  if (before === after) return [];
  const effect = before === undefined ? "looser" : after === undefined ? "stricter" : "both";
  return [{ setting, kind: "changed", effect, says: `${before ?? "none"} → ${after ?? "none"}` }];
}

const METHODS = ["tools/call", "resources/read", "ping"] as const;
const MAX_HTML_BYTES = 262_144;

function compareAppSettings(old: AppsBlock, now: AppsBlock): PolicyChange[] {
  const [html, newHtml] = [old.html ?? {}, now.html ?? {}];
  const resources = ({ resources: list = [] }: AppsBlock): string[] =>
    list.map(({ uri, sha256 }) => (sha256 === undefined ? uri : `${uri} ${sha256}`));
  return [
    ...compareNames("servers", old.servers ?? [], now.servers ?? [], "looser", coversSame),
    ...compareNames("resources", resources(old), resources(now), "looser", coversResource),
    ...pairByName(old.tools ?? [], now.tools ?? [], ({ name }) => name).flatMap(
      ({ name, before, after }) => compareTool(`tools ${name}`, before, after),
    ),
    ...compareNames(
      "methods",
      old.methods ?? METHODS,
      now.methods ?? METHODS,
      "looser",
      coversSame,
    ),
    ...(["connect", "resource", "frame", "base"] as const).flatMap((name) =>
      compareHosts(`csp.${name}`, old.csp?.[name], now.csp?.[name]),
    ),
    ...compareNames(
      "permissions",
      old.permissions ?? [],
      now.permissions ?? [],
      "looser",
      coversSame,
    ),
    ...compareAction("sandboxed_html", old.sandboxed_html, now.sandboxed_html),
    // They matter only where HTML is allowed.
    ...(old.sandboxed_html === "allow" && now.sandboxed_html === "allow"
      ? [
          ...compareLimit(
            "html.max_bytes",
            html.max_bytes ?? MAX_HTML_BYTES,
            newHtml.max_bytes ?? MAX_HTML_BYTES,
          ),
          ...compareAction("html.forms", html.forms, newHtml.forms),
          ...compareAction("html.scripts", html.scripts, newHtml.scripts),
        ]
      : []),
  ];
}

/** An entry without a hash covers those with one. */
function coversResource(wide: string, narrow: string): boolean {
  const [wideUri = "", wideHash] = wide.split(" ");
  const [narrowUri = "", narrowHash] = narrow.split(" ");
  return (wideHash === undefined || wideHash === narrowHash) && coversGlob(wideUri, narrowUri);
}

function compareTool(
  setting: string,
  before: AppTool | undefined,
  after: AppTool | undefined,
): PolicyChange[] {
  const isForApps = (tool: AppTool | undefined): boolean =>
    tool !== undefined && (tool.visibility === undefined || tool.visibility.includes("app"));
  const [was, is] = [isForApps(before), isForApps(after)];
  if (!was && !is) return [];
  if (was !== is) {
    const says = is ? "apps may call it" : "apps may not call it any more";
    return [{ setting, kind: is ? "added" : "removed", effect: is ? "looser" : "stricter", says }];
  }
  return compareSchema(`${setting} arguments`, before?.arguments, after?.arguments);
}

function compareAction(
  setting: string,
  before: DefaultAction = "block",
  after: DefaultAction = "block",
): PolicyChange[] {
  return compareChoice(setting, before, after, ACTIONS);
}

function compareHosts(
  setting: string,
  before: readonly string[] = [],
  after: readonly string[] = [],
): PolicyChange[] {
  const hosts = (list: readonly string[]): Names =>
    list.includes("*") ? "any" : list.map((host) => host.toLowerCase());
  return compareNames(setting, hosts(before), hosts(after), "looser", coversSame);
}

/** The gateway judges it as an interface, and a person can click its buttons. */
function compareDrawn(
  setting: string,
  before: readonly string[] = [],
  after: readonly string[] = [],
): PolicyChange[] {
  return compareNames(setting, before, after, "both", coversSame);
}

function looserNames(
  setting: string,
  before: readonly string[] = [],
  after: readonly string[] = [],
): PolicyChange[] {
  return compareNames(setting, before, after, "looser", coversGlob);
}

function stricterNames(
  setting: string,
  before: readonly string[] = [],
  after: readonly string[] = [],
): PolicyChange[] {
  return compareNames(setting, before, after, "stricter", coversGlob);
}
