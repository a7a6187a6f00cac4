/** One dispatched SSE message: an event block that had at least one `data` line. */
export interface SseMessage {
  /** The data lines, joined by LF. */
  data: string;
  /** The `event` field of the block, when it had one that was not empty. */
  event?: string;
  /** The `id` field of the block, when it had one. */
  id?: string;
  /** The `retry` field of the block in milliseconds, when it had a valid one. */
  retry?: number;
}

/** The kind of a message's data, before parsing. */
export type SseDataKind = "event" | "done" | "empty" | "ping";

/** `[DONE]`, the end marker of other streaming APIs; AG-UI gives it no meaning. */
export function isDoneMarker(data: string): boolean {
  return data.trim() === "[DONE]";
}

/** Nothing but white space: some servers keep a connection alive with `data:` lines. */
export function isEmptyData(data: string): boolean {
  return data.trim() === "";
}

/** The empty object that some servers send as a keep-alive. */
export function isPingObject(data: string): boolean {
  return data.length <= 64 && /^\s*\{\s*\}\s*$/.test(data);
}

/** Tells payloads that may hold an event from the three kinds of filler seen in the wild. */
export function classifySseData(data: string): SseDataKind {
  // Every event is longer than any filler, so the hot path is one comparison.
  if (data.length > 64) return isEmptyData(data) ? "empty" : "event";
  if (isEmptyData(data)) return "empty";
  if (isDoneMarker(data)) return "done";
  return isPingObject(data) ? "ping" : "event";
}
