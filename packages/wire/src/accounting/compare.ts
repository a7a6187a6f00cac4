import { createByteAccount } from "./account.js";
import { measureEvent } from "./measure.js";

/** One message of a conversation: what goes up, and the events that come back. */
export interface MessageExchange {
  /** The `RunAgentInput`: its JSON text, or the number of bytes of it. */
  readonly input: string | number;
  /** Header bytes that each HTTP request repeats, the authorization among them. */
  readonly requestHeaderBytes: number;
  /** The events of the answer: JSON texts, or numbers of bytes. */
  readonly events: readonly (string | number)[];
}

/** The bytes of one message on one transport. */
export interface TransportCost {
  readonly transport: "sse-http1" | "sse-http2" | "websocket";
  /** Bytes that go up before the first event comes back. */
  readonly request: number;
  /** Payload bytes of all events. */
  readonly payload: number;
  /** Framing bytes of all events. */
  readonly framing: number;
  /** Framing for each hundred bytes of payload. */
  readonly overheadPercent: number;
  /** Everything: request, payload and framing. */
  readonly total: number;
}

/**
 * The same message over SSE (HTTP/1.1 and HTTP/2) and over a socket that is already open: an HTTP
 * request repeats its headers for each message, a socket sends one masked frame.
 */
export function compareTransports(exchange: MessageExchange): TransportCost[] {
  const input = measureEvent("websocket-up", exchange.input);
  const httpRequest = exchange.requestHeaderBytes + input.payload;
  return [
    costOf("sse-http1", httpRequest, exchange.events),
    costOf("sse-http2", httpRequest, exchange.events),
    costOf("websocket", input.total, exchange.events),
  ];
}

function costOf(
  transport: TransportCost["transport"],
  request: number,
  events: MessageExchange["events"],
): TransportCost {
  const account = createByteAccount(transport === "websocket" ? "websocket-down" : transport);
  for (const event of events) account.add(event);
  const { payload, framing, total } = account.totals();
  const overheadPercent = payload === 0 ? 0 : (framing / payload) * 100;
  return { transport, request, payload, framing, overheadPercent, total: request + total };
}
