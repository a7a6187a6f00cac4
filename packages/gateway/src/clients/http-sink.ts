import type { ServerResponse } from "node:http";
import type { Http2ServerResponse } from "node:http2";
import type { AgUiEvent } from "@countersign/wire";
import { encodeProto } from "@countersign/wire/proto";
import { encodeSseComment, encodeSseEvent } from "@countersign/wire/sse";
import { PROTO_MEDIA_TYPE, SSE_MEDIA_TYPE } from "../upstream/media-type.js";
import { MAX_UNREAD_BEATS } from "./heartbeats.js";
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

/** Aborts when the answer's connection is gone; asked for before anything else happens on it. */
export function signalOfClose(answer: HttpAnswer): AbortSignal {
  const gone = new AbortController();
  answer.on("close", () => gone.abort());
  answer.on("error", () => gone.abort());
  return gone.signal;
}

/** Opens the stream: headers go out before the first event. */
export function createHttpSink(
  answer: HttpAnswer,
  encoding: HttpEncoding,
  gone: AbortSignal,
  headers: Readonly<Record<string, string>> = {},
): ClientSink {
  answer.writeHead(200, {
    ...HEADERS,
    ...headers,
    "content-type": encoding === "sse" ? SSE_MEDIA_TYPE : PROTO_MEDIA_TYPE,
  });
  // HTTP/2 answers send their headers at once; HTTP/1.1 ones wait for a body unless told.
  if ("flushHeaders" in answer) answer.flushHeaders();
  // The two response classes declare `write` differently, though both take text and bytes.
  // HTTP/2 answers do not say whether they need to drain, so it is remembered here for both.
  let needsDrain = false;
  let unread = 0;
  answer.on("drain", () => {
    needsDrain = false;
    unread = 0;
  });
  const write = (piece: string | Uint8Array): void => {
    needsDrain = !(answer as ServerResponse).write(piece);
  };
  return {
    transport: "sse",
    gone,
    get isSlow() {
      return needsDrain && !gone.aborted;
    },
    send: (events, texts = []) => {
      if (gone.aborted) return;
      write(encoding === "sse" ? encodeSseEvents(events, texts) : encodeProtoEvents(events));
    },
    drained: () =>
      gone.aborted || !needsDrain
        ? Promise.resolve()
        : new Promise((resolve) => {
            const settle = (): void => {
              answer.off("drain", settle);
              answer.off("close", settle);
              resolve();
            };
            answer.once("drain", settle);
            answer.once("close", settle);
          }),
    heartbeat: () => {
      if (gone.aborted) return;
      if (needsDrain) {
        unread += 1;
        if (unread >= MAX_UNREAD_BEATS) answer.destroy();
      } else if (encoding === "sse") {
        // Protobuf has no comment: its idle streams rely on TCP keep-alive.
        write(encodeSseComment("heartbeat"));
      }
    },
    end: () => {
      answer.end();
    },
  };
}

function encodeSseEvents(
  events: readonly AgUiEvent[],
  texts: readonly (string | undefined)[],
): string {
  let frames = "";
  for (let index = 0; index < events.length; index += 1) {
    const text = texts[index];
    // The text of JSON holds no line ending, so it needs no second look.
    frames += text === undefined ? encodeSseEvent(events[index] as AgUiEvent) : `data: ${text}\n\n`;
  }
  return frames;
}

function encodeProtoEvents(events: readonly AgUiEvent[]): Uint8Array {
  return Buffer.concat(events.map((event) => encodeProto(event)));
}
