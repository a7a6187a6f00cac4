import { isCountersignError, isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { SurfacePayload } from "@countersign/surface";
import type { AgUiEvent, EventOf, JsonPatch } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { CLIENT_PATCH_LIMITS } from "../classify/client-state.js";
import type { ClientView } from "../classify/context.js";

/** Types of activities that clients draw as an interface. */
const INTERFACES: ReadonlySet<string> = new Set(["a2ui-surface", "mcp-apps", "open-generative-ui"]);

/** Tools whose arguments a client, or the middleware before it, draws. */
const RENDER_TOOLS: ReadonlySet<string> = new Set(["render_a2ui", "generateSandboxedUi"]);

/** Characters of activities that the patches of one run may have read again: each patch is judged with all that it changes. */
const MAX_REREAD = 256 * 1024 * 1024;

/** Whether the arguments of a tool are an interface: they are judged when they are complete. */
export function isRenderTool(name: string): boolean {
  return RENDER_TOOLS.has(name);
}

/** The interface in the complete arguments of a tool call; undefined for tools that draw nothing. */
export function payloadOfCall(
  toolCallId: string,
  name: string,
  text: string,
): SurfacePayload | undefined {
  if (!isRenderTool(name)) return undefined;
  return { kind: "arguments", toolCallId, name, text, complete: true };
}

/** Finds what the events of one run draw, apart from tool calls ({@link payloadOfCall}). */
export class SurfacePayloads {
  readonly #client: Pick<ClientView, "activity">;
  #reread = 0;

  constructor(client: Pick<ClientView, "activity">) {
    this.#client = client;
  }

  /** The payload of an event that the client does not have yet; undefined if it draws nothing. */
  of(event: AgUiEvent): SurfacePayload | undefined {
    switch (event.type) {
      case "ACTIVITY_SNAPSHOT": {
        const { messageId, activityType, content, replace } = event;
        // A client that has the activity ignores it. Activities of earlier runs are known by their ids alone: a page that was opened since
        // may not have them.
        const known = this.#client.activity(messageId)?.content;
        const isKept = replace === false && known !== undefined;
        return isKept ? undefined : { kind: "activity", messageId, activityType, content };
      }
      case "ACTIVITY_DELTA":
        return this.#afterDelta(event);
      case "TOOL_CALL_RESULT": {
        const { toolCallId, content } = event;
        return { kind: "result", toolCallId, content: content as JsonValue };
      }
      case "RUN_FINISHED":
        return isJsonObject(event.result)
          ? { kind: "resource", sourceId: event.runId, content: event.result }
          : undefined;
      default:
        return undefined;
    }
  }

  /** The activity after a patch, with the type that the patch gives it. */
  #afterDelta(event: EventOf<"ACTIVITY_DELTA">): SurfacePayload | undefined {
    const { messageId, activityType, patch } = event;
    const before = this.#client.activity(messageId);
    if (!INTERFACES.has(activityType) && !INTERFACES.has(before?.type ?? "")) return undefined;
    if (before?.content !== undefined && this.#reread < MAX_REREAD) {
      this.#reread += lengthOf(before.content);
    }
    const isKnown = before?.content !== undefined && this.#reread < MAX_REREAD;
    const content = isKnown ? patched(before.content, patch) : undefined;
    // The model reports content that is not known as unreadable, and the policy blocks it.
    return { kind: "activity", messageId, activityType, content: content ?? null };
  }
}

/** Characters of all texts and one for each value. */
function lengthOf(value: JsonValue): number {
  let length = 0;
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    length += typeof next === "string" ? next.length + 1 : 1;
    if (typeof next === "object" && next !== null) {
      for (const inner of Object.values(next)) open.push(inner);
    }
  }
  return length;
}

/** A copy with the patch applied: later patches change the original in place, and the model keeps what it reads. */
function patched(content: JsonValue, patch: JsonPatch): JsonValue | undefined {
  try {
    const result = applyJsonPatch(content, patch, CLIENT_PATCH_LIMITS);
    return result.applied ? structuredClone(result.document) : undefined;
  } catch (error) {
    if (!isCountersignError(error)) throw error;
    return undefined;
  }
}
