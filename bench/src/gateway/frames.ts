import { STAMP_DIGITS } from "./clock.js";

/**
 * Encodes an event as SSE, as one chunk of an HTTP/1.1 response: what an agent writes per event.
 */
export function chunkOf(event: object): string {
  const frame = `data: ${JSON.stringify(event)}\n\n`;
  return `${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`;
}

/** Ends a chunked response. */
export const LAST_CHUNK = "0\r\n\r\n";

const HEAD =
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n" +
  "transfer-encoding: chunked\r\n\r\n";

const MESSAGE = "msg-1";

/** A word or two, as a model writes them; the stamp is inserted later. */
const CONTENT = chunkOf({
  type: "TEXT_MESSAGE_CONTENT",
  messageId: MESSAGE,
  delta: ` flights @${"0".repeat(STAMP_DIGITS)}`,
});
const CONTENT_BYTES = Buffer.from(CONTENT);
const STAMP_AT = CONTENT.indexOf("@") + 1;

/** The head of a response with the first two events. */
export function beginning(threadId: string, runId: string): string {
  const started = chunkOf({ type: "RUN_STARTED", threadId, runId });
  return `${HEAD}${started}${chunkOf({ type: "TEXT_MESSAGE_START", messageId: MESSAGE, role: "assistant" })}`;
}

/** The last two events and the end of the response. */
export function ending(threadId: string, runId: string): string {
  const end = chunkOf({ type: "TEXT_MESSAGE_END", messageId: MESSAGE });
  return `${end}${chunkOf({ type: "RUN_FINISHED", threadId, runId })}${LAST_CHUNK}`;
}

/** Number of events in `beginning` and `ending`. */
export const FRAMING_EVENTS = 4;

/** `count` text events in one piece, all with the same stamp. */
export function contents(count: number, stamp: number): Buffer {
  const piece = Buffer.allocUnsafe(CONTENT_BYTES.length * count);
  const digits = Math.round(stamp).toString().padStart(STAMP_DIGITS, "0");
  for (let index = 0; index < count; index++) {
    const at = index * CONTENT_BYTES.length;
    CONTENT_BYTES.copy(piece, at);
    piece.write(digits, at + STAMP_AT, "latin1");
  }
  return piece;
}
