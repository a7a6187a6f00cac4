import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** What a page says that a person did: a press on a component, or a request of an MCP App. */
export type Click =
  | {
      readonly kind: "press";
      readonly surfaceId: string;
      readonly componentId: string;
      readonly action: string;
      readonly contextKeys: readonly string[];
    }
  | {
      readonly kind: "app";
      readonly server: string;
      readonly method: string;
      readonly about: string;
    }
  | { readonly kind: "unreadable"; readonly name: string };

/** The clicks in the forwarded properties of a request. */
export function clicksIn(input: unknown): Click[] {
  const props = ownMember(input as JsonValue, "forwardedProps");
  const clicks: Click[] = [];
  const message = ownMember(props, "a2uiAction");
  for (const [name, value] of isJsonObject(message) ? Object.entries(message) : []) {
    if (name !== "version") clicks.push(readPress(name, value));
  }
  const request = ownMember(props, "__proxiedMCPRequest");
  if (isJsonObject(request)) clicks.push(readAppRequest(request));
  return clicks;
}

function readPress(name: string, value: JsonValue): Click {
  const action = ownMember(value, "name");
  const surfaceId = ownMember(value, "surfaceId");
  const componentId = ownMember(value, "sourceComponentId");
  if (typeof action !== "string" || typeof surfaceId !== "string") {
    return { kind: "unreadable", name };
  }
  if (typeof componentId !== "string") return { kind: "unreadable", name };
  const context = ownMember(value, "context");
  const contextKeys = isJsonObject(context) ? Object.keys(context) : [];
  return { kind: "press", surfaceId, componentId, action, contextKeys };
}

function readAppRequest(request: JsonValue): Click {
  const params = ownMember(request, "params");
  return {
    kind: "app",
    server: textOf(ownMember(request, "serverId")),
    method: textOf(ownMember(request, "method")),
    about: textOf(ownMember(params, "name") ?? ownMember(params, "uri")),
  };
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
