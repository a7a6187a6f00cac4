import { STAMP_DIGITS } from "./clock.js";
import type { Kind } from "./work.js";

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

/** A prepared event: what a unit of it has new is written over these places. */
type Template = { readonly bytes: Buffer; readonly stampAt: number; readonly idAt: number };

const ZEROS = "0".repeat(STAMP_DIGITS);
const STAMP = `@${ZEROS}`;
const CALL = `call-${ZEROS}`;
/** Deltas of the arguments of one tool call: an object with as many members. */
const PARTS = 6;

function prepare(event: object): Template {
  const text = chunkOf(event);
  return { bytes: Buffer.from(text), stampAt: text.indexOf(STAMP), idAt: text.indexOf(CALL) };
}

function argumentsPart(index: number): string {
  const [before, after] = [index === 0 ? "{" : "", index === PARTS - 1 ? "}" : ","];
  return `${before}"leg_${index}": "from VIE to LIS ${STAMP}"${after}`;
}

/** The events that a unit of each kind repeats. */
const UNITS: Record<Kind, readonly Template[]> = {
  // A word or two, as a model writes them.
  text: [prepare({ type: "TEXT_MESSAGE_CONTENT", messageId: MESSAGE, delta: ` flights ${STAMP}` })],
  toolcalls: [
    prepare({ type: "TOOL_CALL_START", toolCallId: CALL, toolCallName: "search_flights" }),
    ...Array.from({ length: PARTS }, (_, index) =>
      prepare({ type: "TOOL_CALL_ARGS", toolCallId: CALL, delta: argumentsPart(index) }),
    ),
    prepare({ type: "TOOL_CALL_END", toolCallId: CALL }),
  ],
  statedeltas: [
    prepare({
      type: "STATE_DELTA",
      delta: [{ op: "add", path: "/progress", value: { found: `flights ${STAMP}`, step: 1 } }],
    }),
  ],
};

/** Number of a unit's events, and of those with a time stamp. */
export function sizeOf(kind: Kind): { events: number; stamped: number } {
  const unit = UNITS[kind];
  return { events: unit.length, stamped: unit.filter(({ stampAt }) => stampAt !== -1).length };
}

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

let units = 0;

/**
 * `count` units with the same stamp. Text is one piece; the events of other units are pieces of
 * their own, as agents write them.
 */
export function contents(kind: Kind, count: number, stamp: number): Buffer[] {
  const unit = UNITS[kind];
  const bytesOfUnit = unit.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const all = Buffer.allocUnsafe(bytesOfUnit * count);
  const digits = digitsOf(Math.round(stamp));
  const pieces: Buffer[] = [];
  let at = 0;
  for (let index = 0; index < count; index++) {
    units += 1;
    for (const { bytes, stampAt, idAt } of unit) {
      bytes.copy(all, at);
      if (stampAt !== -1) all.write(digits, at + stampAt + 1, "latin1");
      if (idAt !== -1) all.write(digitsOf(units), at + idAt + CALL.indexOf(ZEROS), "latin1");
      if (kind !== "text") pieces.push(all.subarray(at, at + bytes.length));
      at += bytes.length;
    }
  }
  return kind === "text" ? [all] : pieces;
}

function digitsOf(value: number): string {
  return value.toString().padStart(STAMP_DIGITS, "0");
}
