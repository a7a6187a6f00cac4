import { isCountersignError } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { SurfaceFacts, SurfacePayload } from "@countersign/surface";
import type { AgUiEvent, EventOf, JsonPatch, Message } from "@countersign/wire";
import { applyJsonPatch } from "@countersign/wire/reduce";
import { CLIENT_PATCH_LIMITS } from "../classify/client-state.js";
import type { ClientView } from "../classify/context.js";

/** Characters of activities that the patches of one run may have read again: each patch is judged with all that it changes. */
const MAX_REREAD = 256 * 1024 * 1024;

/** The subagent that draws, if any. */
type Sender = { readonly agent?: string };

/** The thread, as {@link SurfacePayloads} needs it. */
export type PayloadContext = {
  readonly client: Pick<ClientView, "activity">;
  readonly settings: {
    isRenderingActivity(type: string): boolean;
    isRenderingTool(name: string): boolean;
  };
  /** Whether a message shows an interface now, whatever its type. */
  readonly draws?: (messageId: string) => boolean;
};

/** Finds what the events, calls and messages of one run draw. */
export class SurfacePayloads {
  readonly #context: PayloadContext;
  #reread = 0;

  constructor(context: PayloadContext) {
    this.#context = context;
  }

  /** The payload of an event that the client does not have yet; undefined if it draws nothing. Calls: see `ofCall`. */
  of(event: AgUiEvent): SurfacePayload | undefined {
    const sender = senderOf(event);
    switch (event.type) {
      case "ACTIVITY_SNAPSHOT": {
        const { messageId, activityType, content, replace } = event;
        // A client that has the activity ignores it. Activities of earlier runs are known by their ids alone: a page that was opened since
        // may not have them.
        const known = this.#context.client.activity(messageId)?.content;
        const isKept = replace === false && known !== undefined;
        return isKept
          ? undefined
          : { kind: "activity", messageId, activityType, content, ...sender };
      }
      case "ACTIVITY_DELTA":
        return this.#afterDelta(event);
      case "TOOL_CALL_RESULT": {
        const { toolCallId, content } = event;
        return { kind: "result", toolCallId, content: content as JsonValue, ...sender };
      }
      case "RUN_FINISHED":
        return event.result === undefined || event.result === null
          ? undefined
          : { kind: "resource", sourceId: event.runId, content: event.result as JsonValue };
      default:
        return undefined;
    }
  }

  /** The interface in the complete arguments of a tool call; undefined for tools that draw nothing. */
  ofCall(
    toolCallId: string,
    name: string,
    text: string,
    from?: AgUiEvent | Message,
  ): SurfacePayload | undefined {
    if (!this.#context.settings.isRenderingTool(name)) return undefined;
    const sender = from === undefined ? {} : senderOf(from);
    return { kind: "arguments", toolCallId, name, text, complete: true, ...sender };
  }

  /** The interfaces in a listed message, like those in the events that would have streamed it. */
  ofMessage(message: Message): readonly SurfacePayload[] {
    switch (message.role) {
      case "activity": {
        const { id: messageId, activityType, content } = message;
        return [{ kind: "activity", messageId, activityType, content, ...senderOf(message) }];
      }
      case "tool": {
        const { toolCallId, content } = message;
        const sender = senderOf(message);
        return [{ kind: "result", toolCallId, content: content as JsonValue, ...sender }];
      }
      case "assistant":
        return (message.toolCalls ?? []).flatMap(
          ({ id, function: { name, arguments: text } }) =>
            this.ofCall(id, name, text, message) ?? [],
        );
      default:
        return [];
    }
  }

  /** The activity after a patch, with the type that the patch gives it. */
  #afterDelta(event: EventOf<"ACTIVITY_DELTA">): SurfacePayload | undefined {
    const { messageId, activityType, patch } = event;
    const { client, settings, draws } = this.#context;
    const before = client.activity(messageId);
    const isDrawn =
      settings.isRenderingActivity(activityType) ||
      settings.isRenderingActivity(before?.type ?? "") ||
      draws?.(messageId) === true;
    if (!isDrawn) return undefined;
    if (before?.content !== undefined && this.#reread < MAX_REREAD) {
      this.#reread += lengthOf(before.content);
    }
    const isKnown = before?.content !== undefined && this.#reread < MAX_REREAD;
    const content = isKnown ? patched(before.content, patch) : undefined;
    // The model reports content that is not known as unreadable, and the policy blocks it.
    const sender = senderOf(event);
    return { kind: "activity", messageId, activityType, content: content ?? null, ...sender };
  }
}

/** Whether a payload draws, changes or removes an interface. */
export function changesInterface({ isSurface, surfaces, removed }: SurfaceFacts): boolean {
  return isSurface || surfaces.length > 0 || removed.length > 0;
}

/** The subagent that an event or message is attributed to: it may not change what others draw. */
function senderOf(from: AgUiEvent | Message): Sender {
  const tag = "subagentRunId" in from ? from.subagentRunId : undefined;
  return tag === undefined ? {} : { agent: tag };
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
