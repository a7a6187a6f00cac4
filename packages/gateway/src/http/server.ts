import { createServer } from "node:http";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import { createSecureServer } from "node:http2";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Server } from "node:net";
import type { HttpResponse } from "./exchange.js";
import { isDeclined } from "./socket/declined-upgrade.js";
import type { ListenLimits } from "../base/limits.js";
import type { HttpRequest } from "./exchange.js";

/** Certificates; with them the listener serves HTTP/2 and HTTP/1.1 over TLS. `ca` signs client certificates. */
export type TlsOptions = { readonly cert: string; readonly key: string; readonly ca?: string };

/** Streams per HTTP/2 connection; a browser opens far fewer. */
const MAX_STREAMS = 128;
/** Node checks request timeouts every 30 s by default, which would triple the time that a slow request gets. */
const CHECK_MS = 1000;

/** Creates a server with every limit of a connection set. */
export function createListener(
  tls: TlsOptions | undefined,
  limits: ListenLimits,
  handle: (httpRequest: HttpRequest, response: HttpResponse) => void,
): Server {
  const timers = timersOf(limits);
  const plain = {
    ...timers,
    maxHeaderSize: limits.headerBytes,
    noDelay: true,
    // Since Node 24.9; older versions hand over every upgrade request (declined-upgrade.ts).
    shouldUpgradeCallback: (request: IncomingMessage) => !isDeclined(request),
  };
  const server: Server =
    tls === undefined ? createServer(plain, handle) : createTlsServer(tls, limits, timers, handle);
  server.maxConnections = limits.connections;
  return server;
}

/** Timeouts of a connection, under the option names of Node's HTTP server. */
export function timersOf(limits: ListenLimits) {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveMs } = limits;
  return {
    headersTimeout: headersTimeoutMs,
    requestTimeout: Math.max(requestTimeoutMs, headersTimeoutMs),
    keepAliveTimeout: keepAliveMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, Math.ceil(headersTimeoutMs / 2)),
  };
}

function createTlsServer(
  tls: TlsOptions,
  limits: ListenLimits,
  timers: object,
  handle: (httpRequest: HttpRequest, response: HttpResponse) => void,
): Server {
  const server = createSecureServer(
    {
      ...tls,
      allowHTTP1: true,
      handshakeTimeout: limits.headersTimeoutMs,
      settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: limits.headerBytes },
    },
    handle,
  );
  // The HTTP/1.1 side reads its limits from the server; the options of this class do not include them.
  Object.assign(server as unknown as HttpServer, timers, { maxHeaderSize: limits.headerBytes });
  server.on("session", (session) => boundSession(session, limits));
  return server;
}

/** Closes an HTTP/2 connection without open streams: idle, or with headers that arrive too slowly. */
function boundSession(session: ServerHttp2Session, limits: ListenLimits): void {
  const open = new Set<ServerHttp2Stream>();
  let timer = setTimeout(() => session.destroy(), limits.headersTimeoutMs);
  timer.unref();
  const sweep = setInterval(() => cutAnswered(open), limits.requestTimeoutMs);
  sweep.unref();
  session.on("stream", (stream) => {
    open.add(stream);
    clearTimeout(timer);
    stream.once("close", () => {
      open.delete(stream);
      if (open.size > 0) return;
      timer = setTimeout(() => session.destroy(), limits.keepAliveMs);
      timer.unref();
    });
  });
  session.once("close", () => {
    clearTimeout(timer);
    clearInterval(sweep);
  });
}

/** Streams that were fully answered at the last check. */
const answered = new WeakSet<ServerHttp2Stream>();

/**
 * Closes streams that were answered and are still open one check later. A client with a zero window, or one that
 * keeps sending its body, could otherwise hold the connection for ever without authenticating.
 */
function cutAnswered(streams: Iterable<ServerHttp2Stream>): void {
  for (const stream of streams) {
    if (!stream.writableEnded) continue;
    if (answered.has(stream)) stream.destroy();
    else answered.add(stream);
  }
}
