import { isJsonObject, ownMember, parseJson } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import { textMember } from "../oatf/json/values.js";
import type { Turn } from "./turn.js";

const CATALOG = "https://a2ui.org/specification/v0_9/basic_catalog.json";
/** The activity of A2UI. */
export const SURFACE = "a2ui-surface";

/** A button of a surface and the event that its click sends. */
export type CardAction = {
  readonly surfaceId: string;
  readonly componentId: string;
  readonly name: string;
  readonly context: JsonObject;
};

/** Draws the two cards of the bank as A2UI surfaces: an account with its statement, and a transfer to confirm. */
export function drawCards(turn: Turn, account: string): CardAction[] {
  const actions: CardAction[] = [
    {
      surfaceId: "account",
      componentId: "statement",
      name: "view_statement",
      context: { account },
    },
    {
      surfaceId: "transfer",
      componentId: "confirm",
      name: "transfer_funds",
      context: { to: "NW-1000-0009", amount: 20 },
    },
  ];
  const labels = ["View statement", "Transfer 20 to NW-1000-0009"];
  for (const [index, { surfaceId, componentId, name, context }] of actions.entries()) {
    const components = [
      { id: "root", component: "Card", child: componentId },
      {
        id: componentId,
        component: "Button",
        child: "label",
        action: { event: { name, context } },
      },
      { id: "label", component: "Text", text: labels[index] ?? "" },
    ];
    drawSurface(turn, surfaceId, {
      a2ui_operations: [
        { version: "v0.9", createSurface: { surfaceId, catalogId: CATALOG } },
        { version: "v0.9", updateComponents: { surfaceId, components } },
      ],
    });
  }
  return actions;
}

/** Shows A2UI operations; a page draws them. */
export function drawSurface(turn: Turn, id: string, content: JsonObject): void {
  turn.emit({
    type: "ACTIVITY_SNAPSHOT",
    messageId: `${SURFACE}-${id}-${turn.runId}`,
    activityType: SURFACE,
    content,
    replace: true,
  });
}

/** The A2UI operations that a text is, as a middleware finds them in the result of any tool. */
export function operationsIn(text: string): JsonObject | undefined {
  if (!text.includes("a2ui_operations")) return undefined;
  try {
    const value = parseJson(text);
    return isJsonObject(value) && Array.isArray(value["a2ui_operations"]) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Shows the application of an MCP tool; the page reads its resource with a proxied request. */
export function showApp(
  turn: Turn,
  app: { readonly server: string; readonly resourceUri: string },
  result: JsonValue,
  toolInput: JsonObject,
): void {
  const { server: serverId, resourceUri } = app;
  turn.emit({
    type: "ACTIVITY_SNAPSHOT",
    messageId: `mcp-apps-${turn.runId}`,
    activityType: "mcp-apps",
    content: { result, resourceUri, serverId, toolInput },
    replace: true,
  });
}

/** A request of a page for a tool server, and the click on a surface, as they are in `forwardedProps`. */
export type PageRequest = {
  readonly proxied?: JsonObject;
  readonly click?: JsonObject;
};

/** Reads both forms that pages use. */
export function readPageRequest(props: JsonValue | undefined): PageRequest {
  const proxied = ownMember(props, "__proxiedMCPRequest");
  const action = ownMember(props, "a2uiAction");
  const click = ownMember(action, "userAction") ?? action;
  return {
    ...(isJsonObject(proxied) ? { proxied } : {}),
    ...(isJsonObject(click) ? { click } : {}),
  };
}

/** The server, method and parameters of a proxied request. */
export function proxiedParts(request: JsonObject): {
  readonly server: string;
  readonly method: string;
  readonly params: JsonObject;
} {
  const params = ownMember(request, "params");
  return {
    server: textMember(request, "serverId") ?? "",
    method: textMember(request, "method") ?? "",
    params: isJsonObject(params) ? params : {},
  };
}
