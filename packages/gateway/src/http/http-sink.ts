import type { HttpResponse } from "./exchange.js";
import { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import type { AgUiEvent } from "@countersign/wire";
import { encodeProto } from "@countersign/wire/proto";
import { encodeSseComment, encodeSseEvent } from "@countersign/wire/sse";
import { LightSignal } from "../base/signal.js";
import type { Signal } from "../base/signal.js";
import { PROTO_MEDIA_TYPE, SSE_MEDIA_TYPE } from "../base/media-type.js";
import { MAX_UNREAD_BEATS } from "../base/heartbeats.js";
import type { ClientSink, ReceiptTransport } from "../event/sink.js";

/** How the events of one answer are written. */
export type HttpEncoding = "sse" | "proto";

const HEADERS = {
  // no-store: a browser may keep on disk what it only has to ask about again. no-transform keeps proxies from compressing,
  // which would buffer; the last one is nginx's own switch.
  "cache-control": "no-store, no-transform",
  "x-accel-buffering": "no",
} as const;

/** Aborts when the answer's connection is gone; asked for before anything else happens on it. */
export function signalOfClose(response: HttpResponse): Signal {
  const gone = new LightSignal();
  const leave = (): void => gone.abort();
  response.on("close", leave);
  response.on("error", leave);
  return gone;
}

/** Opens the stream: headers go out before the first event. */
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
  // HTTP/2 answers send their headers at once; HTTP/1.1 ones wait for a body unless told.
  if (!(response instanceof ServerResponse)) {
    return new HttpSink(response, response, encoding, gone, false);
  }
  response.flushHeaders();
  // The server writes a chunk as four pieces, corked, one tick later; written whole by us, an event's way out of
  // the process costs a quarter less. A client of HTTP/1.0 gets no chunks at all.
  const framesChunks = response.chunkedEncoding;
  response.chunkedEncoding = false;
  // Behind the headers nothing is left for the answer to add, so that chunks go to its socket without the detour of a
  // cork and a tick each. One that waits behind another of its connection has no socket yet.
  const body = framesChunks ? (response.socket ?? response) : response;
  return new HttpSink(response, body, encoding, gone, framesChunks);
}

/** One answer that stays open. A class: what each of a thousand idle streams holds is its fields alone. */
export class HttpSink implements ClientSink {
  readonly transport: ReceiptTransport = "sse";
  readonly #response: HttpResponse;
  /** Where the body is written. */
  readonly #body: Writable;
  readonly #encoding: HttpEncoding;
  readonly #gone: Signal;
  /** Whether this sink writes the frames of chunked transfer coding (RFC 9112, section 7.1) itself. */
  readonly #framesChunks: boolean;
  /** HTTP/2 answers do not say whether they need to drain, so it is remembered here for both. */
  #needsDrain = false;
  /** From its end on, whatever is written to the socket belongs to the next answer. */
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
      // Protobuf has no comment: its idle streams rely on TCP keep-alive.
      this.write(encodeSseComment("heartbeat"));
    }
  }

  end(): void {
    if (this.#framesChunks && !this.#gone.aborted) this.#send(LAST_CHUNK);
    this.#isOver = true;
    this.#response.end();
  }

  /** Ends the connection, whatever is still on its way. */
  hangUp(): void {
    this.#response.destroy();
  }

  /** Writes a piece that is encoded already. */
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

/** An event as a frame; where its JSON text is known, that text. */
export function sseFrameOf(event: AgUiEvent, text: string | undefined): string {
  // The text of JSON holds no line ending, so it needs no second look.
  return text === undefined ? encodeSseEvent(event) : `data: ${text}\n\n`;
}

function encodeProtoEvents(events: readonly AgUiEvent[]): Uint8Array {
  return Buffer.concat(events.map((event) => encodeProto(event)));
}
