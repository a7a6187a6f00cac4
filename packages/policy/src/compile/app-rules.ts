import type { JsonValue } from "@countersign/core";
import type { SurfaceComponent, SurfaceInfo } from "@countersign/surface";
import { asObject } from "../base/json-object.js";
import type { PolicyDocument } from "../document/model.js";
import { allowsDomain } from "../surface/urls.js";
import type { SurfaceView } from "../surface/view.js";
import type { Rule } from "./rule.js";
import { firstComponent, firstRequest, quoted, rulesOfChecks } from "./surface-check.js";
import type { SurfaceCheck } from "./surface-check.js";
import type { AppDirective, AppSettings } from "./surface-settings.js";

/** Compiles `ag_ui_apps`. */
export function compileAppRules(document: PolicyDocument, settings: AppSettings): Rule[] {
  return rulesOfChecks(document, "ag_ui_apps", checksOf(settings));
}

const APP = "mcp-app:";
const DIRECTIVES: Readonly<Record<string, AppDirective>> = {
  connectDomains: "connect",
  resourceDomains: "resource",
  frameDomains: "frame",
  baseUriDomains: "base",
};

function checksOf(settings: AppSettings): SurfaceCheck[] {
  return [
    {
      id: "ag_ui_apps.servers",
      code: "app_server",
      find: appFinding((component, surface) => {
        for (const { serverId, serverHash } of infosOf(component, surface, "app")) {
          const names = [serverId, serverHash].filter((name) => name !== undefined);
          const unknown = names.find((name) => !settings.allowsServer(name));
          if (names.length > 0 && unknown === undefined) continue;
          const server = unknown === undefined ? "none" : quoted(unknown);
          return `is of the server ${server}, which the policy does not list`;
        }
        return undefined;
      }),
    },
    {
      id: "ag_ui_apps.resources",
      code: "app_resource",
      find: appFinding((component, surface) => {
        const uri = component.componentType.slice(APP.length);
        if (!settings.allowsResource(uri, undefined)) {
          return "is a resource that the policy does not list";
        }
        const unknown = infosOf(component, surface, "html").find(
          ({ hash }) => !settings.allowsResource(uri, hash),
        );
        return unknown === undefined
          ? undefined
          : `has HTML with the hash ${unknown.hash}, which the policy does not list`;
      }),
    },
    {
      id: "ag_ui_apps.csp",
      code: "app_domain",
      find: appFinding(({ urls }) => {
        for (const { path, value } of urls) {
          const member = /^\/_meta\/ui\/csp\/(\w+)/u.exec(path)?.[1];
          if (member === undefined) continue;
          const directive = Object.hasOwn(DIRECTIVES, member) ? DIRECTIVES[member] : undefined;
          if (directive === undefined || !allowsDomain(settings.csp[directive], value)) {
            return `asks for ${quoted(value)} in ${member}, which the policy does not list`;
          }
        }
        return undefined;
      }),
    },
    {
      id: "ag_ui_apps.permissions",
      code: "app_permission",
      find: appFinding(({ resolved }) => {
        const ui = asObject(resolved["ui"]);
        const asked = ui?.["permissions"] ?? null;
        if (asked === null) return undefined;
        const names = Array.isArray(asked)
          ? asked.map(String)
          : Object.keys(asObject(asked) ?? { [String(asked)]: true });
        const unknown = names.find((name) => !settings.permissions.has(name));
        return unknown === undefined
          ? undefined
          : `asks for the permission ${quoted(unknown)}, which the policy does not list`;
      }),
    },
    {
      id: "ag_ui_apps.html",
      code: "app_html",
      find: firstComponent((component, surface) => {
        if (component.kind !== "html-sandbox") return undefined;
        if (!settings.allowsHtml) return "is HTML that the agent wrote";
        const [html] = infosOf(component, surface, "html");
        // The document has not begun.
        if (html === undefined) return undefined;
        const bytes = html.bytes + html.styleBytes + html.scriptBytes;
        const { maxBytes, allowsForms, allowsScripts } = settings.html;
        if (bytes > maxBytes) return `has ${bytes} bytes, more than ${maxBytes}`;
        if (html.forms > 0 && !allowsForms) return "has a form";
        if (html.scripts + html.scriptBytes > 0 && !allowsScripts) return "has scripts";
        return undefined;
      }),
    },
    {
      id: "ag_ui_apps.requests",
      code: "app_request",
      find: firstRequest(({ request, refusal }) => {
        if (request.kind !== "app") return undefined;
        if (refusal !== undefined) return refusal;
        const { method, tool, uri } = request;
        if (!settings.methods.has(method)) {
          return {
            reason: `the app sends the method ${quoted(method)}, which the policy does not list`,
          };
        }
        const unknown = [request.serverId, request.serverHash].find(
          (name) => name !== undefined && !settings.allowsServer(name),
        );
        if (unknown !== undefined) {
          return {
            reason: `the app asks the server ${quoted(unknown)}, which the policy does not list`,
          };
        }
        if (uri !== undefined && !settings.allowsResource(uri, undefined)) {
          return { reason: `the app reads ${quoted(uri)}, which the policy does not list` };
        }
        return method === "tools/call" ? toolFinding(settings, tool, request.arguments) : undefined;
      }),
    },
  ];
}

function toolFinding(
  { tools }: AppSettings,
  name: string | undefined,
  args: JsonValue,
): { reason: string } | undefined {
  const tool = tools.get(name ?? "");
  const called = quoted(name ?? "");
  if (tool === undefined)
    return { reason: `the app calls the tool ${called}, which the policy does not list` };
  if (!tool.isForApps) return { reason: `the tool ${called} is not visible to apps` };
  return tool.check(args)
    ? undefined
    : { reason: `the arguments of the tool ${called} do not fit their schema` };
}

function appFinding(
  find: (component: SurfaceComponent, surface: SurfaceView) => string | undefined,
): SurfaceCheck["find"] {
  return firstComponent((component, surface) =>
    component.kind === "mcp-app" ? find(component, surface) : undefined,
  );
}

/**
 * The known facts about the app or the HTML of a component: of this event, or from an earlier one. One event can show
 * several under one name, and a client draws any of them.
 */
function infosOf<Key extends "app" | "html">(
  { sourceId, kind, componentType }: SurfaceComponent,
  { facts, shown }: SurfaceView,
  key: Key,
): NonNullable<SurfaceInfo[Key]>[] {
  const find = (infos: readonly SurfaceInfo[]): NonNullable<SurfaceInfo[Key]>[] =>
    infos.flatMap((info) => {
      const { change, componentType: type = componentType } = info;
      const isOther = info.sourceId !== sourceId || info.kind !== kind || type !== componentType;
      return isOther || change === "deleted" ? [] : (info[key] ?? []);
    });
  const now = find(facts.surfaces);
  return now.length > 0 ? now : find(shown);
}
