import type { JsonValue } from "@countersign/core";
import { parseJson } from "@countersign/core";
import { SseTap } from "../framing/sse-tap.js";
import { decodeRecordingLine, textMembers } from "./line.js";
import type { EventLine, RecordingLine } from "./line.js";
import { readLines } from "./read-lines.js";

/** Opens a recording from its beginning; a file can be opened again and again. */
export type OpenRecording = () => AsyncIterable<Uint8Array>;

/** One connection of a recording. */
export type RecordedConnection = { connId: string; events: number; durationMs: number };

const SSE_START = /^\s*(?:\ufeff)?(?:(?:data|event|id|retry)\s*:|:)/;
const MAX_CONNECTIONS = 100_000;
const LONG_LINE = { maxBytes: 32 * 1024 * 1024, maxDepth: 80 };

/** The lines of a recording of any kind, as they are read; an SSE body or plain events are one connection. */
export async function* readRecording(
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<RecordingLine> {
  let seq = 0;
  const plain = (text: string, extra: Partial<EventLine> = {}): EventLine => ({
    kind: "event",
    connId: "c1",
    seq: ++seq,
    tMs: 0,
    ...textMembers(text),
    ...extra,
  });
  let ready: RecordingLine[] = [];
  const tap = new SseTap({
    frame: ({ data, event, id }) =>
      ready.push(
        plain(data, {
          ...(event === undefined ? {} : { sseEvent: event }),
          ...(id === undefined ? {} : { sseId: id }),
        }),
      ),
    comment: (text) => ready.push({ kind: "comment", connId: "c1", tMs: 0, text }),
  });
  const iterator = source[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) return;
  const rest = startingWith(first.value, iterator);
  if (!SSE_START.test(Buffer.from(first.value.subarray(0, 256)).toString("utf8"))) {
    for await (const lines of readLines(rest)) {
      for (const { text } of lines) if (text !== undefined) yield decodeLine(text) ?? plain(text);
    }
    return;
  }
  for await (const chunk of rest) {
    tap.push(chunk);
    yield* ready;
    ready = [];
  }
  tap.end();
  yield* ready;
}

/** A source whose first bytes were already looked at. */
async function* startingWith(
  first: Uint8Array,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    yield next.value;
  }
}

function decodeLine(text: string): RecordingLine | undefined {
  let value: JsonValue;
  try {
    value = parseJson(text, LONG_LINE);
  } catch {
    return undefined;
  }
  return decodeRecordingLine(value);
}

/** The connections of a recording that hold events, in the order they began. */
export async function listConnections(open: OpenRecording): Promise<RecordedConnection[]> {
  const connections = new Map<string, RecordedConnection>();
  for await (const line of readRecording(open())) {
    if (line.kind === "header") continue;
    let connection = connections.get(line.connId);
    if (connection === undefined) {
      if (connections.size >= MAX_CONNECTIONS) continue;
      connections.set(
        line.connId,
        (connection = { connId: line.connId, events: 0, durationMs: 0 }),
      );
    }
    if (line.kind === "event") connection.events++;
    connection.durationMs = Math.max(connection.durationMs, line.tMs);
  }
  return [...connections.values()];
}

/** The lines of one connection, read from the file as they are needed. */
export async function* readConnection(
  open: OpenRecording,
  connId: string,
): AsyncGenerator<Exclude<RecordingLine, { kind: "header" }>> {
  for await (const line of readRecording(open())) {
    if (line.kind !== "header" && line.connId === connId) yield line;
  }
}
