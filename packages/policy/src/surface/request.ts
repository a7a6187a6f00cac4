import type { JsonObject, JsonValue } from "@countersign/core";
import type { ShownAction, SurfaceInfo } from "@countersign/surface";
import { asObject } from "../base/json-object.js";
import type { Aspect, EventFacts, ShownPart } from "../classify/facts.js";
import type { Refinements } from "../classify/refinement.js";
import { refineNamed } from "../classify/refinement.js";
import { isAppRequest, isMemberOfMessage } from "./request-shape.js";

/** A click that a request claims, or a request of an MCP App. */
export type SurfaceRequest =
  /** `forwardedProps.a2uiAction.userAction`, or `action` of A2UI 1.0. */
  | {
      readonly kind: "click";
      readonly path: string;
      readonly surfaceId: string;
      readonly componentId: string;
      readonly action: string;
      readonly contextKeys: readonly string[];
    }
  /** `callAgentFunction` of A2UI 1.0: the page asks the agent to run a function. */
  | { readonly kind: "function"; readonly path: string; readonly name: string }
  /** `forwardedProps.__proxiedMCPRequest`. */
  | {
      readonly kind: "app";
      readonly path: string;
      readonly serverId: string | undefined;
      readonly serverHash: string | undefined;
      readonly method: string;
      /** Of `tools/call`. */
      readonly tool: string | undefined;
      readonly arguments: JsonValue;
      /** Of `resources/read`. */
      readonly uri: string | undefined;
    }
  /** The key is there, and its value has another shape. */
  | { readonly kind: "unreadable"; readonly path: string };

/** Why a request does not match what the thread was shown. */
export type SurfaceRefusalCode =
  | "request_unreadable"
  | "action_not_shown"
  | "context_not_declared"
  | "action_used"
  | "app_not_shown"
  | "resource_not_shown";

/** A refusal, for the receipt and the answer to the client. */
export type SurfaceRefusal = {
  readonly code: SurfaceRefusalCode;
  readonly reason: string;
  readonly remedy: string;
};

/** The interfaces that a thread was shown; `SurfaceModel` has the first two. */
export type ShownToThread = {
  readonly surfaces: readonly SurfaceInfo[];
  findAction(surfaceId: string, componentId: string, actionName: string): ShownAction | undefined;
  /** Whether the thread has used an action, by {@link MatchedRequest.useKey}. Without it no action is single use. */
  isUsed?(useKey: string): boolean;
};

/** A request compared with what the thread was shown; input of `policy.evaluate`. */
export type MatchedRequest = {
  readonly request: SurfaceRequest;
  /** Undefined when it matches. */
  readonly refusal?: SurfaceRefusal;
  /** Of a click that matches: the component, its action and the hash of what the person saw. */
  readonly shown?: ShownPart;
  /**
   * Of a click: what the gateway remembers when the request was forwarded. It holds the hash of the
   * subtree, so a surface that was drawn anew with other values can be used again.
   */
  readonly useKey?: string;
  /** Of an app: the resource of the shown app, for the target of the effect. */
  readonly resourceUri?: string;
};

/** Reads every claim about a surface in a `RunAgentInput`; empty for most requests. */
export function readSurfaceRequests(input: JsonObject): readonly SurfaceRequest[] {
  const props = asObject(input["forwardedProps"]);
  if (props === undefined) return [];
  const requests: SurfaceRequest[] = [];
  if (isSet(props, "a2uiAction")) requests.push(...readA2ui(props["a2uiAction"]));
  if (isSet(props, "__proxiedMCPRequest")) requests.push(readApp(props["__proxiedMCPRequest"]));
  return requests;
}

function isSet(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key) && object[key] !== null;
}

const A2UI_PATH = "/forwardedProps/a2uiAction";
/** Answers of a page to the agent, which do nothing by themselves. */
const ANSWERS: ReadonlySet<string> = new Set(["version", "error", "rendererFunctionResponse"]);

function readA2ui(value: JsonValue | undefined): SurfaceRequest[] {
  const message = asObject(value);
  if (message === undefined) return [{ kind: "unreadable", path: A2UI_PATH }];
  return Object.entries(message).flatMap(([key, content]): SurfaceRequest[] => {
    const path = `${A2UI_PATH}/${key}`;
    if (!isMemberOfMessage(key, content)) return [{ kind: "unreadable", path }];
    if (ANSWERS.has(key) || content === null) return [];
    if (key === "userAction" || key === "action") return [readClick(content, path)];
    return [readFunction(content, path)];
  });
}

function readClick(value: JsonValue, path: string): SurfaceRequest {
  const action = asObject(value);
  const { name, surfaceId, sourceComponentId: componentId } = action ?? {};
  const context = action?.["context"] ?? {};
  const keys = asObject(context);
  if (
    typeof name !== "string" ||
    typeof surfaceId !== "string" ||
    typeof componentId !== "string" ||
    keys === undefined
  ) {
    return { kind: "unreadable", path };
  }
  return {
    kind: "click",
    path,
    surfaceId,
    componentId,
    action: name,
    contextKeys: Object.keys(keys),
  };
}

function readFunction(value: JsonValue, path: string): SurfaceRequest {
  const name = asObject(asObject(value)?.["callFunction"])?.["call"];
  return typeof name === "string" ? { kind: "function", path, name } : { kind: "unreadable", path };
}

function readApp(value: JsonValue | undefined): SurfaceRequest {
  const path = "/forwardedProps/__proxiedMCPRequest";
  if (!isAppRequest(value)) return { kind: "unreadable", path };
  const object = value;
  const { method } = object;
  // The middleware reads an empty text like an absent one.
  const serverId = object["serverId"] === "" ? undefined : object["serverId"];
  const serverHash = object["serverHash"] === "" ? undefined : object["serverHash"];
  const params = asObject(object["params"] ?? {});
  const isText = (one: JsonValue | undefined): one is string | undefined =>
    one === undefined || typeof one === "string";
  if (
    typeof method !== "string" ||
    !isText(serverId) ||
    !isText(serverHash) ||
    params === undefined
  ) {
    return { kind: "unreadable", path };
  }
  const { name, uri } = params;
  if (!isText(name) || !isText(uri)) return { kind: "unreadable", path };
  return {
    kind: "app",
    path,
    serverId,
    serverHash,
    method,
    tool: method === "tools/call" ? name : undefined,
    arguments: params["arguments"] ?? {},
    uri: method === "resources/read" ? uri : undefined,
  };
}

/** Compares a request with what the thread was shown. Pure; never throws on data. */
export function matchSurfaceRequest(
  request: SurfaceRequest,
  thread: ShownToThread,
): MatchedRequest {
  switch (request.kind) {
    case "click":
      return matchClick(request, thread);
    case "app":
      return matchApp(request, thread);
    case "function":
      return { request };
    case "unreadable":
      return refused(
        request,
        "request_unreadable",
        `${request.path} does not have the shape of a click or an app request`,
        "send the message as the renderer writes it",
      );
  }
}

function matchClick(
  request: SurfaceRequest & { kind: "click" },
  thread: ShownToThread,
): MatchedRequest {
  const { surfaceId, componentId, action } = request;
  const found = thread.findAction(surfaceId, componentId, action);
  if (found === undefined) {
    return refused(
      request,
      "action_not_shown",
      `the thread shows no component "${surfaceId}/${componentId}" with an action "${action}"`,
      "reload the conversation and click again; a client may send only actions that are on its screen",
    );
  }
  const shown: ShownPart = {
    type: found.componentType,
    id: found.componentId,
    action,
    subtreeHash: found.subtreeHash,
  };
  const declared = new Set(found.action.contextKeys);
  const foreign = request.contextKeys.find((key) => !declared.has(key));
  if (foreign !== undefined) {
    return {
      ...refused(
        request,
        "context_not_declared",
        `the action "${action}" of ${found.componentType} "${found.componentId}" does not declare the context key "${foreign}"`,
        "declare the key in the action's context, or leave it out of the click",
      ),
      shown,
    };
  }
  const { componentType, subtreeHash } = found;
  const useKey = JSON.stringify([componentType, found.componentId, action, subtreeHash]);
  if (thread.isUsed?.(useKey) === true) {
    return {
      ...refused(
        request,
        "action_used",
        `the action "${action}" of ${found.componentType} "${found.componentId}" was used before`,
        "have the agent draw the surface again before the person repeats the action",
      ),
      shown,
    };
  }
  return { request, shown, useKey };
}

function matchApp(
  request: SurfaceRequest & { kind: "app" },
  thread: ShownToThread,
): MatchedRequest {
  const { serverId, serverHash, method, uri } = request;
  const apps = thread.surfaces.flatMap(({ app, change }) =>
    app === undefined || change === "deleted" ? [] : [app],
  );
  const ofServer = apps.filter(
    (app) =>
      (serverId !== undefined || serverHash !== undefined) &&
      (serverId === undefined || app.serverId === serverId) &&
      (serverHash === undefined || app.serverHash === serverHash),
  );
  const [first] = ofServer;
  if (first === undefined) {
    return refused(
      request,
      "app_not_shown",
      "the thread shows no MCP App of the server that the request names",
      "open the app again; a client may call only servers of apps that are on its screen",
    );
  }
  if (method !== "resources/read") return { request, resourceUri: first.resourceUri };
  if (uri === undefined || !ofServer.some(({ resourceUri }) => resourceUri === uri)) {
    return refused(
      request,
      "resource_not_shown",
      `the thread shows no MCP App "${uri ?? ""}" of that server`,
      "open the app again; a client may read only resources of apps that are on its screen",
    );
  }
  return { request, resourceUri: uri };
}

function refused(
  request: SurfaceRequest,
  code: SurfaceRefusalCode,
  reason: string,
  remedy: string,
): MatchedRequest {
  return { request, refusal: { code, reason, remedy } };
}

/**
 * The facts of a request with each click and each call of an app as a further effect: `submit` on
 * the component that the person saw, `display` for an app that reads its own page.
 */
export function addRequests(
  event: EventFacts,
  requests: readonly MatchedRequest[],
  refinements: Refinements,
): EventFacts {
  const effects = requests.flatMap((matched): Aspect[] => {
    const aspect = effectOf(matched);
    const type = aspect?.target?.component_type;
    if (aspect === undefined || type === undefined) return [];
    const { shown } = matched;
    const refined = refineNamed(aspect, refinements.components, type);
    return [shown === undefined ? refined : { ...refined, shown }];
  });
  return effects.length === 0 ? event : { ...event, also: [...(event.also ?? []), ...effects] };
}

function effectOf({ request, shown, resourceUri }: MatchedRequest): Aspect | undefined {
  if (shown !== undefined) return onTarget(shown.type, shown.id, request.path);
  if (request.kind !== "app" || resourceUri === undefined || request.method !== "tools/call") {
    return undefined;
  }
  return onTarget(`mcp-app:${resourceUri}`, request.tool, request.path);
}

function onTarget(type: string, id: string | undefined, path: string): Aspect {
  return {
    eventType: "form_action",
    target: { component_type: type, ...(id === undefined ? {} : { component_id: id }) },
    classification: "submit",
    derived: "submit",
    path,
  };
}
