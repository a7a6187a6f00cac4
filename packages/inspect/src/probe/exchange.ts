import { request as requestHttp } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import type { Socket } from "node:net";

/** One request to send over an open connection. */
export type ExchangeRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
};

/** The head of a response, and its body as it arrives. */
export type ExchangeResponse = {
  readonly status: number;
  readonly httpVersion: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: AsyncIterable<Uint8Array>;
  /** Bytes of the request's head, as near as the protocol lets one know. */
  readonly requestHeaderBytes: number;
  /** Lets go of the connection. */
  close(): void;
};

/** Sends a request over a connection that is already open: HTTP/2 when TLS agreed on it, else HTTP/1.1. */
export function exchange(socket: Socket, request: ExchangeRequest): Promise<ExchangeResponse> {
  const alpn = "alpnProtocol" in socket ? socket.alpnProtocol : undefined;
  return alpn === "h2" ? exchangeHttp2(socket, request) : exchangeHttp1(socket, request);
}

function exchangeHttp1(socket: Socket, request: ExchangeRequest): Promise<ExchangeResponse> {
  return new Promise((done, failed) => {
    const headers: Record<string, string | number> = {
      ...request.headers,
      connection: "keep-alive",
    };
    if (request.body !== undefined) headers["content-length"] = Buffer.byteLength(request.body);
    const sent = requestHttp({
      method: request.method,
      host: request.url.hostname,
      port: request.url.port,
      path: request.url.pathname + request.url.search,
      headers,
      createConnection: () => socket,
      signal: request.signal,
    });
    sent.once("error", failed);
    sent.once("response", (response) => {
      done({
        status: response.statusCode ?? 0,
        httpVersion: response.httpVersion,
        headers: headerMap(response.headers),
        body: response as AsyncIterable<Uint8Array>,
        requestHeaderBytes: headBytes(request, headers),
        close: () => socket.destroy(),
      });
    });
    sent.end(request.body);
  });
}

function exchangeHttp2(socket: Socket, request: ExchangeRequest): Promise<ExchangeResponse> {
  return new Promise((done, failed) => {
    const session = connectHttp2(request.url.origin, { createConnection: () => socket });
    session.once("error", failed);
    const stream = session.request(
      {
        ...request.headers,
        ":method": request.method,
        ":path": request.url.pathname + request.url.search,
      },
      { signal: request.signal },
    );
    stream.once("error", failed);
    stream.once("response", (head) => {
      done({
        status: head[":status"] ?? 0,
        httpVersion: "2",
        headers: headerMap(head),
        body: stream as AsyncIterable<Uint8Array>,
        requestHeaderBytes: headBytes(request, request.headers),
        close: () => session.destroy(),
      });
    });
    stream.end(request.body);
  });
}

function headerMap(
  headers: Readonly<Record<string, string | string[] | number | undefined>>,
): Map<string, string> {
  const map = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !name.startsWith(":")) {
      map.set(name.toLowerCase(), Array.isArray(value) ? value.join(", ") : String(value));
    }
  }
  return map;
}

/** The head as HTTP/1.1 writes it; HTTP/2 compresses it, by how much depends on what was sent before. */
function headBytes(
  request: ExchangeRequest,
  headers: Readonly<Record<string, string | number>>,
): number {
  const first = `${request.method} ${request.url.pathname}${request.url.search} HTTP/1.1\r\n`;
  const lines = Object.entries({ host: request.url.host, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return Buffer.byteLength(`${first}${lines.join("")}\r\n`);
}
