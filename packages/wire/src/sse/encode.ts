import { CountersignError, writeJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import type { AgUiEvent } from "../model/event.js";

/** The optional fields of a frame. */
export interface SseEncodeOptions {
  /** Written as `id:`; an EventSource sends the last one back when it reconnects. */
  readonly id?: string;
  /** Written as `event:`; note that named events bypass `onmessage`, and AG-UI clients ignore names. */
  readonly event?: string;
}

/**
 * One SSE frame around a payload: LF only (the official client splits on nothing else), one `data`
 * line for each line of the payload.
 *
 * @throws CountersignError `ERR_SSE_FIELD` when a CR in the payload or a line ending in a field would
 *   let its author write lines of his own
 */
export function encodeSse(data: string, options?: SseEncodeOptions): string {
  if (data.includes("\r")) throw fieldError("data");
  const body = data.includes("\n") ? data.replaceAll("\n", "\ndata: ") : data;
  if (options === undefined) return `data: ${body}\n\n`;
  return `${field("event", options.event)}${field("id", options.id)}data: ${body}\n\n`;
}

/**
 * One SSE frame around an event. The text of JSON holds no line ending, so it needs no second look.
 *
 * @throws CountersignError `ERR_SSE_FIELD` as {@link encodeSse}
 */
export function encodeSseEvent(event: AgUiEvent, options?: SseEncodeOptions): string {
  const json = writeJson(event as unknown as JsonValue);
  if (options === undefined) return `data: ${json}\n\n`;
  return `${field("event", options.event)}${field("id", options.id)}data: ${json}\n\n`;
}

/**
 * A comment frame, the heartbeat that keeps idle connections open.
 *
 * @throws CountersignError `ERR_SSE_FIELD` when the text has a line ending
 */
export function encodeSseComment(text = ""): string {
  if (/[\r\n]/.test(text)) throw fieldError("comment");
  return text === "" ? ":\n\n" : `: ${text}\n\n`;
}

function field(name: "event" | "id", value: string | undefined): string {
  if (value === undefined) return "";
  // A reader ignores an id with NUL (WHATWG HTML §9.2.6), so writing one would lose it silently.
  if (/[\r\n]/.test(value) || value.includes("\0")) throw fieldError(name);
  return `${name}: ${value}\n`;
}

function fieldError(name: "data" | "event" | "id" | "comment"): CountersignError {
  return new CountersignError("ERR_SSE_FIELD", `the ${name} would break out of its line`, {
    field: name,
  });
}
