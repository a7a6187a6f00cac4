import { utf8Length } from "@countersign/core";

/** How an event travels: the two ways of SSE, and the two directions of a WebSocket. */
export type Transport = "sse-http1" | "sse-http2" | "websocket-down" | "websocket-up";

/** All transports, in the order tables show them. */
export const TRANSPORTS: readonly Transport[] = [
  "sse-http1",
  "sse-http2",
  "websocket-down",
  "websocket-up",
];

/** The bytes of one event on the wire, below TLS. */
export interface EventBytes {
  /** The JSON text. */
  readonly payload: number;
  /** Everything the transport puts around it. */
  readonly framing: number;
  /** Both together. */
  readonly total: number;
}

/** `data: ` before and two line feeds after the payload. */
const SSE_FIELD_BYTES = 6 + 2;

/** RFC 9113 §4.1. */
const HTTP2_FRAME_HEADER_BYTES = 9;

/** RFC 9113 §6.5.2: SETTINGS_MAX_FRAME_SIZE unless the peer raises it. */
const HTTP2_FRAME_PAYLOAD_BYTES = 16_384;

/** RFC 6455 §5.3: what a client sends is masked. */
const WEBSOCKET_MASK_BYTES = 4;

const FRAMING: Readonly<Record<Transport, (payload: number) => number>> = {
  "sse-http1": (payload) => SSE_FIELD_BYTES + chunkFraming(payload + SSE_FIELD_BYTES),
  "sse-http2": (payload) => SSE_FIELD_BYTES + dataFrameHeaders(payload + SSE_FIELD_BYTES),
  "websocket-down": (payload) => webSocketHeader(payload),
  "websocket-up": (payload) => webSocketHeader(payload) + WEBSOCKET_MASK_BYTES,
};

/**
 * The bytes of one event: its JSON text, or the number of bytes of it. Every event is flushed alone, as
 * a live stream does, so it has its own HTTP chunk, DATA frame or WebSocket frame.
 *
 * @throws TypeError when a number of bytes is negative or no integer
 */
export function measureEvent(transport: Transport, json: string | number): EventBytes {
  const payload = typeof json === "string" ? utf8Length(json) : json;
  if (!Number.isSafeInteger(payload) || payload < 0) {
    throw new TypeError("a number of bytes must be an integer of at least 0");
  }
  const framing = FRAMING[transport](payload);
  return { payload, framing, total: payload + framing };
}

/** RFC 9112 §7.1: hexadecimal length, CRLF, the chunk, CRLF. */
function chunkFraming(bytes: number): number {
  return bytes.toString(16).length + 4;
}

function dataFrameHeaders(bytes: number): number {
  return HTTP2_FRAME_HEADER_BYTES * Math.ceil(bytes / HTTP2_FRAME_PAYLOAD_BYTES);
}

/** RFC 6455 §5.2: two bytes, and two or eight more for a length above 125 or 65,535. */
function webSocketHeader(payload: number): number {
  if (payload <= 125) return 2;
  return payload <= 65_535 ? 4 : 10;
}
