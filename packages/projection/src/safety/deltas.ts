import { isRecord } from "../safe/value.js";

/** A part of a longer text, and the id of that text. */
export type Delta = { readonly stream: string; readonly text: string };

/** Frames with a part of a text, and the member with the text's id. */
const DELTA_IDS = new Map([
  ["TEXT_MESSAGE_CONTENT", "messageId"],
  ["TEXT_MESSAGE_CHUNK", "messageId"],
  ["REASONING_MESSAGE_CONTENT", "messageId"],
  ["REASONING_MESSAGE_CHUNK", "messageId"],
  ["TOOL_CALL_ARGS", "toolCallId"],
  ["TOOL_CALL_CHUNK", "toolCallId"],
]);

/** The delta of a frame. Chunks without an id continue the previous one, so they share one text. */
export function deltaOf(frame: unknown): Delta | undefined {
  try {
    return isRecord(frame) ? readDelta(frame) : undefined;
  } catch {
    // A getter or a proxy threw; the scan of the frame reports it.
    return undefined;
  }
}

function readDelta(frame: Readonly<Record<string, unknown>>): Delta | undefined {
  const { type, delta } = frame;
  const idName = typeof type === "string" ? DELTA_IDS.get(type) : undefined;
  if (idName === undefined || typeof delta !== "string") return undefined;
  const id = frame[idName];
  const family = String(type).slice(0, String(type).lastIndexOf("_"));
  return { stream: `${family} ${typeof id === "string" ? id : ""}`, text: delta };
}
