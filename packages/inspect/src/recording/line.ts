import type { JsonObject, JsonValue } from "@countersign/core";
import { isJsonObject, parseJson, writeJson } from "@countersign/core";
import { decodeTextFrame, textFrameStyle } from "@countersign/wire/websocket";

/** The first line of a recording. */
export type HeaderLine = {
  kind: "header";
  schemaVersion: 1;
  tool: string;
  capturedAt: string;
  url?: string;
  transport: "sse" | "websocket" | "proto";
  /** Groups of content that were taken out. */
  redacted: string[];
};

/** A request: what went up. */
export type RequestLine = {
  kind: "request";
  connId: string;
  tMs: number;
  method: string;
  url: string;
  input?: JsonValue;
};

/** The head of an answer; absent in recordings of other tools. */
export type ResponseLine = {
  kind: "response";
  connId: string;
  seq?: number;
  tMs: number;
  status: number;
  contentType: string;
};

/** One event, or whatever stood where an event was due. */
export type EventLine = {
  kind: "event";
  connId: string;
  seq: number;
  /** Milliseconds since the connection's request. */
  tMs: number;
  /** The value; a string when the text was not JSON. */
  event: JsonValue;
  /** The text, when writing the value again would not give it back. */
  text?: string;
  sseEvent?: string;
  sseId?: string;
};

/** A comment: the heartbeat of a quiet server. */
export type CommentLine = {
  kind: "comment";
  connId: string;
  seq?: number;
  tMs: number;
  text: string;
};

/** How a connection ended. */
export type EndLine = {
  kind: "end";
  connId: string;
  seq?: number;
  tMs: number;
  reason: "complete" | "cut";
  closeCode?: number;
};

/**
 * One line of an `.agui.jsonl` file.
 *
 * AG-UI DevTools write four kinds and report any other as damage: `header`, `request`, `event` and `keepalive`. In the
 * file a comment is therefore a `keepalive`, and so are the head and the end of an answer, which say what they are
 * under `countersign`, a member that other readers pass over.
 */
export type RecordingLine =
  | HeaderLine
  | RequestLine
  | ResponseLine
  | EventLine
  | CommentLine
  | EndLine;

const KINDS: ReadonlySet<string> = new Set([
  "header",
  "request",
  "response",
  "event",
  "comment",
  "end",
]);

/** Writes one line, with its line feed. */
export function encodeRecordingLine(line: RecordingLine): string {
  return `${writeJson(inTheFile(line) as JsonObject)}\n`;
}

/** A line in one of the four kinds that every reader knows. */
function inTheFile(line: RecordingLine): object {
  switch (line.kind) {
    case "header":
      return { ...line, url: line.url ?? "", transport: TRANSPORTS.get(line.transport) ?? "sse" };
    case "comment": {
      const { connId, seq = 0, tMs, text } = line;
      return { kind: KEEPALIVE, connId, seq, tMs, comment: text };
    }
    case "response":
    case "end": {
      const { kind, connId, seq = 0, tMs, ...facts } = line;
      return { kind: KEEPALIVE, connId, seq, tMs, comment: "", countersign: { kind, ...facts } };
    }
    default:
      return line;
  }
}

const KEEPALIVE = "keepalive";

/** The name of a transport in the file; DevTools call protobuf `binary`. */
const TRANSPORTS: ReadonlyMap<string, string> = new Map([
  ["sse", "sse"],
  ["websocket", "websocket"],
  ["proto", "binary"],
]);

/** Reads a `keepalive` line of the file as the line it encodes. */
function ofKeepalive(value: JsonObject): JsonObject {
  const { kind: _kind, comment, countersign, ...place } = value;
  const own = isJsonObject(countersign) ? countersign : undefined;
  if (own?.["kind"] === "response" || own?.["kind"] === "end") return { ...place, ...own };
  return { ...place, kind: "comment", text: typeof comment === "string" ? comment : "" };
}

/** Reads one line; `undefined` when it is not a recording line. Never throws on data. */
export function decodeRecordingLine(value: JsonValue): RecordingLine | undefined {
  if (!isJsonObject(value)) return undefined;
  if (value["kind"] === KEEPALIVE) return decodeRecordingLine(ofKeepalive(value));
  const kind = value["kind"];
  if (typeof kind !== "string" || !KINDS.has(kind)) return undefined;
  if (kind === "header") {
    const isProto = value["transport"] === TRANSPORTS.get("proto");
    return { ...value, ...(isProto ? { transport: "proto" } : {}) } as unknown as HeaderLine;
  }
  const line = { ...value, connId: String(value["connId"] ?? ""), tMs: milliseconds(value["tMs"]) };
  if (kind === "event" && !Object.hasOwn(value, "event")) return undefined;
  return line as unknown as RecordingLine;
}

function milliseconds(value: JsonValue | undefined): number {
  return typeof value === "number" && value >= 0 ? value : 0;
}

/** The members of an event line that carry the text of a frame, without loss. */
export function textMembers(text: string): { event: JsonValue; text?: string } {
  try {
    const event = parseJson(text);
    return writeJson(event) === text ? { event } : { event, text };
  } catch {
    return { event: text, text };
  }
}

/** The same for a WebSocket frame, which may hold SSE text: the value is then that of its first event. */
export function frameMembers(frame: string): { event: JsonValue; text?: string } {
  if (textFrameStyle(frame) === "json") return textMembers(frame);
  const [first = ""] = decodeTextFrame(frame);
  return { event: textMembers(first).event, text: frame };
}

/** The text of the frame that an event line was made from. */
export function textOf(line: EventLine): string {
  return line.text ?? writeJson(line.event);
}
