import { isJsonObject, ownMember } from "@countersign/core";
import type { JsonObject, JsonValue } from "@countersign/core";
import type { RuntimeSettings } from "../../agent/upstream.js";

/**
 * The facts about the runtime that a page gets: known members only, of the agents and routes that the gateway serves.
 *
 * The members about CopilotKit's own service are left out. With them a page opens a socket to that service, past the gateway.
 */
export function runtimeInfo(value: JsonValue, { agents, routes }: RuntimeSettings): JsonObject {
  const info = isJsonObject(value) ? value : {};
  const served = isJsonObject(info["agents"]) ? info["agents"] : {};
  const entries = agents.flatMap((id) => {
    const agent = ownMember(served, id);
    return agent !== undefined && isJsonObject(agent) ? [[id, agentInfo(id, agent)] as const] : [];
  });
  const { version, a2ui } = info;
  const threads = (isSingle: boolean): JsonObject => ({
    list: routes.has("threads/list") && threadFlag(info, isSingle, "list"),
    inspect:
      (["threads/messages", "threads/events", "threads/state"] as const).every((route) =>
        routes.has(route),
      ) && threadFlag(info, isSingle, "inspect"),
    mutations:
      (["threads/update", "threads/archive"] as const).every((route) => routes.has(route)) &&
      threadFlag(info, isSingle, "mutations"),
    realtimeMetadata: false,
  });
  return {
    ...(typeof version === "string" ? { version } : {}),
    agents: Object.fromEntries(entries),
    audioFileTranscriptionEnabled:
      routes.has("transcribe") && is(info, "audioFileTranscriptionEnabled"),
    mode: "sse",
    threadEndpoints: threads(false),
    ...(isJsonObject(info["singleRoute"])
      ? {
          singleRoute: {
            resourceOperations: is(info["singleRoute"], "resourceOperations"),
            threadEndpoints: threads(true),
          },
        }
      : {}),
    suggestions: is(info, "suggestions"),
    ...(routes.has("inspector/metadata")
      ? { inspectorMetadata: is(info, "inspectorMetadata") }
      : {}),
    ...(routes.has("inspector/learning")
      ? { inspectorLearning: is(info, "inspectorLearning") }
      : {}),
    a2uiEnabled: is(info, "a2uiEnabled"),
    ...(isJsonObject(a2ui) ? { a2ui: a2uiInfo(a2ui, agents) } : {}),
    openGenerativeUIEnabled: is(info, "openGenerativeUIEnabled"),
    telemetryDisabled: is(info, "telemetryDisabled"),
  };
}

/** Without its class, which is a name inside the runtime. */
function agentInfo(name: string, { description, capabilities }: JsonObject): JsonObject {
  return {
    name,
    ...(typeof description === "string" ? { description } : {}),
    ...(isJsonObject(capabilities) ? { capabilities } : {}),
  };
}

function a2uiInfo(a2ui: JsonObject, allowed: readonly string[]): JsonObject {
  const { agents } = a2ui;
  const listed = Array.isArray(agents)
    ? agents.filter((id) => allowed.includes(String(id)))
    : undefined;
  return { enabled: is(a2ui, "enabled"), ...(listed === undefined ? {} : { agents: listed }) };
}

function threadFlag(info: JsonObject, isSingle: boolean, name: string): boolean {
  const holder = isSingle ? info["singleRoute"] : info;
  const flags = isJsonObject(holder) ? holder["threadEndpoints"] : undefined;
  return isJsonObject(flags) && is(flags, name);
}

function is(object: JsonObject, name: string): boolean {
  return object[name] === true;
}
