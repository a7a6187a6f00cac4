import type { HttpResponse } from "./exchange.js";
import { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { LightSignal } from "@countersign/core";
import type { Signal } from "@countersign/core";
import type { AgUiEvent } from "@countersign/wire";
import { encodeProto } from "@countersign/wire/proto";
import { encodeSseComment, encodeSseEvent } from "@countersign/wire/sse";
import { PROTO_MEDIA_TYPE, SSE_MEDIA_TYPE } from "../base/media-type.js";
import { MAX_UNREAD_BEATS } from "../base/heartbeats.js";
import type { ClientSink, ReceiptTransport } from "../event/sink.js";

/** The encoding of the events of one response. */
export type HttpEncoding = "sse" | "proto";

const HEADERS = {
  // no-store: a browser may otherwise keep the stream on disk. no-transform keeps proxies from compressing, which
  // would buffer; the last header turns off buffering in nginx.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/**
 * Aborts when the connection of the response closes before the response is complete; created before anything else happens on it. Node also
 * emits `close` after a complete response, on a busy machine even before the run is saved: that client has received everything.
 */
export function signalOfClose(response: HttpResponse): Signal {
  const gone = new LightSignal();
  const leave = (): void => gone.abort();
  response.on("close", leave);
  response.on("error", leave);
  response.on("finish", () => {
    // HTTP/2 emits `finish` also for a stream that the client resets.
    if (response.writableEnded) response.off("close", leave);
  });
  return gone;
}

/** Opens the stream: headers are sent before the first event. */
export function createHttpSink(
  response: HttpResponse,
  encoding: HttpEncoding,
  gone: Signal,
  headers: Readonly<Record<string, string>> = {},
): HttpSink {
  response.writeHead(200, {
    ...HEADERS,
    ...headers,
    "content-type": encoding === "sse" ? SSE_MEDIA_TYPE : PROTO_MEDIA_TYPE,
  });
  // HTTP/2 sends headers at once; HTTP/1.1 waits for a body unless flushed.
  if (!(response instanceof ServerResponse)) {
    return new HttpSink(response, response, encoding, gone, false);
  }
  response.flushHeaders();
  // Node writes a chunk as four pieces, corked, one tick later. Writing it whole makes sending an event a quarter
  // cheaper. An HTTP/1.0 client gets no chunks at all.
  const framesChunks = response.chunkedEncoding;
  response.chunkedEncoding = false;
  // After the headers the response adds nothing more, so chunks go to the socket directly, without a cork and a tick
  // each. A pipelined response has no socket yet.
  const body = framesChunks ? (response.socket ?? response) : response;
  return new HttpSink(response, body, encoding, gone, framesChunks);
}

/** One open response. A class, so that each of a thousand idle streams holds its fields and no closures. */
export class HttpSink implements ClientSink {
  readonly transport: ReceiptTransport = "sse";
  readonly #response: HttpResponse;
  /** The stream that the body is written to. */
  readonly #body: Writable;
  readonly #encoding: HttpEncoding;
  readonly #gone: Signal;
  /** Whether this sink writes the frames of chunked transfer coding (RFC 9112, section 7.1) itself. */
  readonly #framesChunks: boolean;
  /** HTTP/2 responses do not expose whether they need to drain, so it is tracked here for both versions. */
  #needsDrain = false;
  /** After the end, anything written to the socket would belong to the next response. */
  #isOver = false;
  #unread = 0;

  constructor(
    response: HttpResponse,
    body: Writable,
    encoding: HttpEncoding,
    gone: Signal,
    framesChunks: boolean,
  ) {
    this.#response = response;
    this.#body = body;
    this.#encoding = encoding;
    this.#gone = gone;
    this.#framesChunks = framesChunks;
  }

  get isSlow(): boolean {
    return this.#needsDrain && !this.#gone.aborted;
  }

  send(events: readonly AgUiEvent[], texts: readonly (string | undefined)[] = []): void {
    if (this.#gone.aborted) return;
    this.write(
      this.#encoding === "sse" ? encodeSseEvents(events, texts) : encodeProtoEvents(events),
    );
  }

  drained(): Promise<void> {
    if (!this.isSlow) return Promise.resolve();
    const body = this.#body;
    return new Promise((resolve) => {
      const settle = (): void => {
        body.off("drain", settle);
        body.off("close", settle);
        resolve();
      };
      body.once("drain", settle);
      body.once("close", settle);
    });
  }

  heartbeat(): void {
    if (this.#gone.aborted) return;
    if (this.#needsDrain) {
      this.#unread += 1;
      if (this.#unread >= MAX_UNREAD_BEATS) this.#response.destroy();
    } else if (this.#encoding === "sse") {
      // Protobuf has no comments: its idle streams rely on TCP keep-alive.
      this.write(encodeSseComment("heartbeat"));
    }
  }

  end(): void {
    if (this.#framesChunks && !this.#gone.aborted) this.#send(LAST_CHUNK);
    this.#isOver = true;
    this.#response.end();
  }

  /** Destroys the connection without flushing. */
  hangUp(): void {
    this.#response.destroy();
  }

  /** Writes a piece that is already encoded. */
  write(piece: string | Uint8Array): void {
    if (piece.length > 0 && !this.#gone.aborted)
      this.#send(this.#framesChunks ? chunkOf(piece) : piece);
  }

  #send(piece: string | Uint8Array): void {
    if (this.#isOver || this.#body.write(piece) || this.#needsDrain) return;
    this.#needsDrain = true;
    this.#body.once("drain", () => {
      this.#needsDrain = false;
      this.#unread = 0;
    });
  }
}

const LAST_CHUNK = "0\r\n\r\n";

function chunkOf(piece: string | Uint8Array): string | Uint8Array {
  const size = `${Buffer.byteLength(piece).toString(16)}\r\n`;
  if (typeof piece === "string") return `${size}${piece}\r\n`;
  return Buffer.concat([Buffer.from(size), piece, Buffer.from("\r\n")]);
}

function encodeSseEvents(
  events: readonly AgUiEvent[],
  texts: readonly (string | undefined)[],
): string {
  let frames = "";
  for (let index = 0; index < events.length; index += 1) {
    frames += sseFrameOf(events[index] as AgUiEvent, texts[index]);
  }
  return frames;
}

/** Encodes an event as an SSE frame; uses its JSON text if that is known. */
function sseFrameOf(event: AgUiEvent, text: string | undefined): string {
  // JSON text contains no line break, so it needs no further check.
  return text === undefined ? encodeSseEvent(event) : `data: ${text}\n\n`;
}

function encodeProtoEvents(events: readonly AgUiEvent[]): Uint8Array {
  return Buffer.concat(events.map((event) => encodeProto(event)));
}
