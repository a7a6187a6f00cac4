import { createServer } from "node:http";
import type { IncomingMessage, Server as HttpServer } from "node:http";
import { createSecureServer } from "node:http2";
import type { ServerHttp2Session, ServerHttp2Stream } from "node:http2";
import type { Server } from "node:net";
import type { HttpResponse } from "./exchange.js";
import { isDeclined } from "./socket/declined-upgrade.js";
import type { ListenLimits } from "../base/limits.js";
import type { HttpRequest } from "./exchange.js";

/** Certificates; with them the listener speaks HTTP/2 and HTTP/1.1 over TLS. */
export type TlsOptions = { readonly cert: string; readonly key: string };

/** Streams of one HTTP/2 connection; a browser opens far fewer. */
const MAX_STREAMS = 128;
/** Node looks for late requests every 30 s unless told, which would treble the time a slow one gets. */
const CHECK_MS = 1000;

/** A server with every bound of a connection set. */
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
    // From Node 24.9 on; those before hand over every offer (declined-upgrade.ts).
    shouldUpgradeCallback: (request: IncomingMessage) => !isDeclined(request),
  };
  const server: Server =
    tls === undefined ? createServer(plain, handle) : createTlsServer(tls, limits, timers, handle);
  server.maxConnections = limits.connections;
  return server;
}

/** How long a connection may take over what it sends, in the words of Node's HTTP server. */
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
  // The HTTP/1.1 side reads its bounds from the server; the options of this class do not name them.
  Object.assign(server as unknown as HttpServer, timers, { maxHeaderSize: limits.headerBytes });
  server.on("session", (session) => boundSession(session, limits));
  return server;
}

/** Ends an HTTP/2 connection that has nothing open: idle, or with a head that drips in. */
function boundSession(session: ServerHttp2Session, limits: ListenLimits): void {
  const open = new Set<ServerHttp2Stream>();
  let timer = setTimeout(() => session.destroy(), limits.headersTimeoutMs);
  timer.unref();
  const look = setInterval(() => cutAnswered(open), limits.requestTimeoutMs);
  look.unref();
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
    clearInterval(look);
  });
}

/** Streams that had their whole answer at the last look. */
const answered = new WeakSet<ServerHttp2Stream>();

/**
 * Ends streams that are answered and still there a look later. A client that takes nothing (a window of zero) or goes on
 * with its body would otherwise hold them, and so the connection, for good, without ever saying who it is.
 */
function cutAnswered(streams: Iterable<ServerHttp2Stream>): void {
  for (const stream of streams) {
    if (!stream.writableEnded) continue;
    if (answered.has(stream)) stream.destroy();
    else answered.add(stream);
  }
}
