import { classifySseData } from "@countersign/wire/sse";
import type { SseMessage } from "@countersign/wire/sse";
import type { Frame } from "./transport.js";

/** The frames in messages, without the fillers that servers keep streams alive with. */
export function framesOf(messages: readonly SseMessage[]): Frame[] {
  const frames: Frame[] = [];
  for (const { data, id, retry } of messages) {
    if (classifySseData(data) !== "event") continue;
    const frame: { json: string; id?: string; retry?: number } = { json: data };
    if (id !== undefined) frame.id = id;
    if (retry !== undefined) frame.retry = retry;
    frames.push(frame);
  }
  return frames;
}
