import { isJsonObject } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent, JsonPatch } from "../model/event.js";
import type { RunAgentInput } from "../model/input.js";
import type { Message } from "../model/message.js";
import { applyJsonPatch, createReducer } from "../reduce/index.js";
import { officialPatch } from "./official-patch.js";

/** Whether the stream meets a written difference of the reducer: a patch (P, R1), or ids twice (R5). */
export function meetsReducerDifference(
  input: RunAgentInput,
  events: readonly AgUiEvent[],
): boolean {
  const reducer = createReducer({ messages: input.messages, state: input.state ?? {} });
  for (const event of events) {
    const { type } = event;
    if (type === "STATE_DELTA" || type === "MESSAGES_SNAPSHOT" || type === "ACTIVITY_DELTA") {
      const view = reducer.snapshot();
      if (type === "STATE_DELTA" && patchDiffers(view.state, event.delta)) return true;
      if (type === "MESSAGES_SNAPSHOT" && hasTwins(view.messages)) return true;
      if (type === "ACTIVITY_DELTA") {
        const target = view.messages.find((message) => message.id === event.messageId);
        if (target?.role === "activity" && patchDiffers(target.content, event.patch)) return true;
      }
    }
    reducer.push(event);
  }
  return false;
}

function hasTwins(messages: readonly Message[]): boolean {
  return new Set(messages.map(({ id }) => id)).size < messages.length;
}

function patchDiffers(document: JsonValue, patch: JsonPatch): boolean {
  const ours = applyJsonPatch(document, patch);
  const theirs = officialPatch(document, patch);
  // P3: even where both refuse, the official client may fail while it prints the cycle it made.
  if (!ours.applied && ours.reason === "into-itself") return true;
  if (!ours.applied || theirs === undefined) return ours.applied !== (theirs !== undefined);
  return !isJsonObject(ours.document) && isJsonObject(document);
}
