import { canonicalJson, parseJson, parseLeniently, sha256Hex } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { SurfaceComponent, SurfaceInfo } from "@countersign/surface";
import { asObject } from "../base/json-object.js";
import type { PolicyDocument } from "../document/model.js";
import { findInTexts } from "../content/shown-texts.js";
import { findContradiction } from "../surface/label-verbs.js";
import { refuseUrl } from "../surface/urls.js";
import type { SurfaceView } from "../surface/view.js";
import type { Rule } from "./rule.js";
import { firstComponent, firstRequest, quoted, rulesOfChecks } from "./surface-check.js";
import type { SurfaceCheck } from "./surface-check.js";
import type { CatalogueSettings, SurfaceSettings } from "./surface-settings.js";
import { UNNAMED_CATALOGUE } from "./surface-settings.js";

/** Compiles `ag_ui_surfaces`. */
export function compileSurfaceRules(document: PolicyDocument, settings: SurfaceSettings): Rule[] {
  return rulesOfChecks(document, "ag_ui_surfaces", checksOf(settings));
}

function checksOf(settings: SurfaceSettings): SurfaceCheck[] {
  return [
    {
      id: "ag_ui_surfaces.undecided",
      code: "surface_undecided",
      isAlwaysOn: true,
      find({ surface }) {
        const problem = surface?.facts.problems.find(({ isUndecided }) => isUndecided);
        return problem === undefined
          ? undefined
          : { reason: `the surface is not certain: ${problem.sentence}` };
      },
    },
    {
      id: "ag_ui_surfaces.catalogues",
      code: "surface_catalogue",
      find: firstOf(
        ({ surface }) => {
          for (const { kind, change, catalogueId, surfaceId } of surface?.facts.surfaces ?? []) {
            if (kind !== "a2ui" || change === "deleted") continue;
            if (settings.catalogues.has(catalogueId ?? UNNAMED_CATALOGUE)) continue;
            return {
              reason: `surface ${quoted(surfaceId)} uses ${catalogueName(catalogueId)}, which the policy does not list`,
            };
          }
          return undefined;
        },
        firstComponent((component, surface) => {
          if (component.kind !== "a2ui") return undefined;
          const { catalogueId } = component;
          if (catalogueId !== undefined && !settings.allowsOverrides) {
            return `names ${catalogueName(catalogueId)} in place of that of its surface`;
          }
          return catalogueOf(settings, component, surface) === undefined
            ? "is of a catalogue that the policy does not list"
            : undefined;
        }),
        contextFinding(settings),
      ),
    },
    {
      id: "ag_ui_surfaces.components",
      code: "surface_component",
      find: ofCatalogue(settings, (component, { allowsComponent }) =>
        allowsComponent(typeName(component))
          ? undefined
          : "is not a component that the policy lists for its catalogue",
      ),
    },
    {
      id: "ag_ui_surfaces.props",
      code: "surface_props",
      find: ofCatalogue(settings, (component, { schemas }) => {
        const check = schemas.get(typeName(component));
        return check === undefined || check(component.resolved)
          ? undefined
          : "has properties that do not fit their schema";
      }),
    },
    {
      id: "ag_ui_surfaces.functions",
      code: "surface_function",
      find: firstOf(
        ofCatalogue(settings, (component, { allowsFunction }) => {
          const call = component.functionCalls.find(
            ({ name, isBasic }) =>
              settings.blocksFunction(name) || !(allowsFunction?.(name) ?? isBasic),
          );
          return call === undefined
            ? undefined
            : `calls the function ${quoted(call.name)}, which the policy does not list`;
        }),
        ({ surface }) => {
          const call = surface?.facts.functionCalls.find(
            ({ name }) => !settings.allowsAgentCall(name) || settings.blocksFunction(name),
          );
          return call === undefined
            ? undefined
            : {
                reason: `the agent runs the function ${quoted(call.name)} in the page, which the policy does not list`,
              };
        },
        firstRequest(({ request }) =>
          request.kind !== "function" || settings.allowsAgentFunction(request.name)
            ? undefined
            : {
                reason: `the page asks the agent for the function ${quoted(request.name)}, which the policy does not list`,
              },
        ),
      ),
    },
    {
      id: "ag_ui_surfaces.urls",
      code: "surface_url",
      find: firstOf(
        firstComponent(({ urls, kind }) => {
          for (const { value, isExact, path } of urls) {
            if (kind === "mcp-app" && isAppUrl(path)) continue;
            const what = refuseUrl(value, isExact, settings.urls);
            if (what !== undefined) return `has ${what} at ${quoted(path).slice(1, -1)}`;
          }
          return undefined;
        }),
        firstComponent(({ label, texts, kind }) => {
          if (settings.texts === undefined || kind !== "a2ui") return undefined;
          const found = findInTexts([label, ...texts], settings.texts);
          if (found === undefined) return undefined;
          return found.kind === "images"
            ? "has in its text an image of a host that the policy does not list"
            : "has text that only ag_ui_content can open: a link that runs code, or too many characters";
        }),
        // The agent runs it now, without a component or a click.
        ({ surface }) => {
          for (const { name, args } of surface?.facts.functionCalls ?? []) {
            const { url } = args;
            if (url === undefined) continue;
            // Renderers bind, compute and coerce other values.
            const isText = typeof url === "string";
            const what = isText
              ? refuseUrl(url, true, settings.urls)
              : "a URL that is not written as text";
            if (what !== undefined) {
              return { reason: `the agent runs the function ${quoted(name)} with ${what}` };
            }
          }
          return undefined;
        },
      ),
    },
    {
      id: "ag_ui_surfaces.inputs",
      code: "surface_input",
      find: firstComponent(({ inputs }) => {
        for (const input of settings.sensitive === undefined ? [] : inputs) {
          const what = settings.sensitive?.(input);
          if (what !== undefined) return what;
        }
        return undefined;
      }),
    },
    {
      id: "ag_ui_surfaces.labels",
      code: "surface_label",
      find: firstComponent((component) =>
        settings.blocksContradictions ? findContradiction(component) : undefined,
      ),
    },
    {
      id: "ag_ui_surfaces.send_data_model",
      code: "surface_data_model",
      find({ surface }) {
        const found = (surface?.facts.surfaces ?? []).find(
          ({ sendDataModel, change }) => sendDataModel && change !== "deleted",
        );
        return found === undefined || settings.allowsDataModel
          ? undefined
          : {
              reason: `surface ${quoted(found.surfaceId)} has the page send its whole data model with every message`,
            };
      },
    },
    {
      id: "ag_ui_surfaces.clicks",
      code: "surface_click",
      find: firstRequest(({ request, refusal }) =>
        request.kind === "app" || refusal === undefined ? undefined : refusal,
      ),
    },
  ];
}

/** The first finding of several checks. */
function firstOf(...finds: readonly SurfaceCheck["find"][]): SurfaceCheck["find"] {
  return (facts) => {
    for (const find of finds) {
      const finding = find(facts);
      if (finding !== undefined) return finding;
    }
    return undefined;
  };
}

/** Looks at the components of listed catalogues; others are blocked for their catalogue. */
function ofCatalogue(
  settings: SurfaceSettings,
  find: (component: SurfaceComponent, catalogue: CatalogueSettings) => string | undefined,
): SurfaceCheck["find"] {
  return firstComponent((component, surface) => {
    const catalogue =
      component.kind === "a2ui" ? catalogueOf(settings, component, surface) : undefined;
    return catalogue === undefined ? undefined : find(component, catalogue);
  });
}

function catalogueOf(
  { catalogues }: SurfaceSettings,
  component: SurfaceComponent,
  surface: SurfaceView,
): CatalogueSettings | undefined {
  const { catalogueId, surfaceId, sourceId } = component;
  if (catalogueId !== undefined) return catalogues.get(catalogueId);
  const isOwn = (info: SurfaceInfo): boolean =>
    info.surfaceId === surfaceId && info.sourceId === sourceId;
  const info = surface.shown.find(isOwn) ?? surface.facts.surfaces.find(isOwn);
  return info === undefined ? undefined : catalogues.get(info.catalogueId ?? UNNAMED_CATALOGUE);
}

function catalogueName(id: string | undefined): string {
  return id === undefined ? "no catalogue" : `the catalogue ${quoted(id)}`;
}

function typeName({ componentType }: SurfaceComponent): string {
  return componentType.slice("a2ui:".length);
}

/** Domains and resources of MCP Apps have rules of their own. */
function isAppUrl(path: string): boolean {
  return path === "/resourceUri" || path.startsWith("/_meta/ui/csp/");
}

const ABOUT_A2UI = /a2ui/iu;
/** The description under which the A2UI middleware reads a catalogue. */
const CATALOGUE_ENTRY = /a2ui component schema/iu;

/** A browser that sends a catalogue with its request writes a part of the agent's prompt. */
function contextFinding({ catalogues }: SurfaceSettings): SurfaceCheck["find"] {
  return ({ event, variables }) => {
    const context = event.direction === "inbound" ? variables?.event?.["context"] : undefined;
    for (const [index, entry] of (Array.isArray(context) ? context : []).entries()) {
      const catalogue = catalogueIn(asObject(entry));
      if (catalogue === undefined) continue;
      const path = `/context/${index}`;
      const id = asObject(catalogue)?.["catalogId"];
      const name = typeof id === "string" ? id : UNNAMED_CATALOGUE;
      const hash = catalogue === null ? undefined : sha256Hex(canonicalJson(catalogue));
      if (hash !== undefined && hash === catalogues.get(name)?.hash) continue;
      const reason =
        hash === undefined
          ? `the client sends a component catalogue ${quoted(name)} that cannot be read`
          : `the client sends a component catalogue ${quoted(name)} with the hash ${hash}, which the policy does not pin`;
      return { reason, path };
    }
    return undefined;
  };
}

/** The catalogue in an entry of `context`; null for one that cannot be read. */
function catalogueIn(entry: JsonObject | undefined): JsonValue | undefined {
  const { description, value } = entry ?? {};
  if (typeof value !== "string") return undefined;
  const isNamed = typeof description === "string" && ABOUT_A2UI.test(description);
  if (!isNamed && !value.includes("catalogId")) return undefined;
  let read: JsonValue;
  try {
    read = parseJson(value);
  } catch {
    // Guides for the agent are prose, as CopilotKit's page sends them beside its catalogue.
    const isCatalogue = CATALOGUE_ENTRY.test(String(description));
    return isCatalogue || parseLeniently(value) !== undefined ? null : undefined;
  }
  const catalogue = asObject(read);
  if (catalogue !== undefined && "components" in catalogue) return catalogue;
  return isNamed ? null : undefined;
}
