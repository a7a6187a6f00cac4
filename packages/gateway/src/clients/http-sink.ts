import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { AgUiEvent } from "@countersign/wire";
import { encodeProto } from "@countersign/wire/proto";
import { encodeSse, encodeSseComment } from "@countersign/wire/sse";
import { PROTO_MEDIA_TYPE, SSE_MEDIA_TYPE } from "../upstream/media-type.js";
import type { ClientSink } from "./sink.js";

/** HTTP/1.1 and HTTP/2 answers share the part we use. */
export type HttpAnswer = ServerResponse | Http2ServerResponse;

/** How the events of one answer are written. */
export type HttpEncoding = "sse" | "proto";

const HEADERS = {
  // no-transform keeps proxies from compressing, which would buffer; the last one is nginx's own switch.
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
} as const;

/** Opens the stream: headers go out before the first event. */
export function createHttpSink(
  answer: HttpAnswer,
  encoding: HttpEncoding,
  headers: Readonly<Record<string, string>> = {},
): ClientSink {
  const gone = new AbortController();
  answer.on("close", () => gone.abort());
  answer.on("error", () => gone.abort());
  answer.writeHead(200, {
    ...HEADERS,
    ...headers,
    "content-type": encoding === "sse" ? SSE_MEDIA_TYPE : PROTO_MEDIA_TYPE,
  });
  // HTTP/2 answers send their headers at once; HTTP/1.1 ones wait for a body unless told.
  if ("flushHeaders" in answer) answer.flushHeaders();
  // The two response classes declare `write` differently, though both take text and bytes.
  const write = (piece: string | Uint8Array): boolean => (answer as ServerResponse).write(piece);
  return {
    transport: "sse",
    gone: gone.signal,
    get isSlow() {
      return answer.writableNeedDrain && !gone.signal.aborted;
    },
    send: (events) => {
      if (gone.signal.aborted) return;
      write(encoding === "sse" ? encodeSseEvents(events) : encodeProtoEvents(events));
    },
    drained: () =>
      gone.signal.aborted || !answer.writableNeedDrain
        ? Promise.resolve()
        : new Promise((resolve) => {
            answer.once("drain", resolve);
            answer.once("close", resolve);
          }),
    heartbeat: () => {
      // Protobuf has no comment: its idle streams rely on TCP keep-alive.
      if (encoding === "sse" && !answer.writableNeedDrain) write(encodeSseComment("heartbeat"));
    },
    end: () => {
      answer.end();
    },
  };
}

function encodeSseEvents(events: readonly AgUiEvent[]): string {
  let text = "";
  for (const event of events) text += encodeSse(JSON.stringify(event));
  return text;
}

function encodeProtoEvents(events: readonly AgUiEvent[]): Uint8Array {
  return Buffer.concat(events.map((event) => encodeProto(event)));
}
