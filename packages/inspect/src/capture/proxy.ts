import { createServer, request as requestHttp } from "node:http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { writeJson } from "@countersign/core";
import { createProtoDecoder } from "@countersign/wire/proto";
import { isProto, mediaType } from "../doctor/body.js";
import { SseTap } from "../framing/sse-tap.js";
import { Recorder } from "./recorder.js";
import type { ConnectionRecorder, RecorderOptions } from "./recorder.js";
import { relayWebSocket } from "./relay.js";

/** How to run a capture. */
export type CaptureOptions = Omit<RecorderOptions, "target" | "transport"> & {
  /** The agent: http, https, ws or wss. */
  readonly target: string;
  /** Default 127.0.0.1: a capture is for this machine. */
  readonly host?: string;
  /** 0 picks a free port. */
  readonly port?: number;
};

/** A running capture. */
export type Capture = { readonly url: string; close(): Promise<void> };

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "host",
  "accept-encoding",
  "content-length",
]);
/** Recorded of a request body; the whole of it is passed on. */
const MAX_RECORDED_BODY = 10 * 1024 * 1024;

/**
 * Listens locally, passes everything on to the agent and back untouched, and records what passes.
 *
 * @throws TypeError when the target is not http, https, ws or wss
 */
export async function startCapture(options: CaptureOptions): Promise<Capture> {
  const target = new URL(options.target);
  if (!/^(?:https?|wss?):$/.test(target.protocol))
    throw new TypeError("the target must be http, https, ws or wss");
  const socket = target.protocol.startsWith("ws");
  const recorder = new Recorder({
    ...options,
    target: `${target.protocol}//${target.host}${target.pathname}`,
    transport: socket ? "websocket" : "sse",
  });
  const http = new URL(target);
  http.protocol = /^(?:https|wss):$/.test(target.protocol) ? "https:" : "http:";
  const server = createServer((request, response) => forward(request, response, http, recorder));
  const closers = new Set<() => void>();
  server.on("upgrade", (request, client, head) => {
    const url = aim(request, http);
    url.protocol = http.protocol === "https:" ? "wss:" : "ws:";
    relayWebSocket({
      request,
      client,
      head,
      url,
      headers: passedOn(request.headers),
      recorder,
      closers,
    });
  });
  await new Promise<void>((done, failed) => {
    server.once("error", failed);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", done);
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `${socket ? "ws" : "http"}://${options.host ?? "127.0.0.1"}:${port}/`,
    close: () =>
      new Promise((done) => {
        for (const close of closers) close();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

/** The root stands for the target itself; any other path is taken as it is, and never leaves the target's origin. */
function aim(request: IncomingMessage, target: URL): URL {
  const path = request.url ?? "/";
  if (path === "/" || !path.startsWith("/")) return new URL(target);
  if (path.startsWith("/?")) return new URL(`${target.pathname}${path.slice(1)}`, target);
  const url = new URL(path.replace(/^[/\\]+/, "/"), target.origin);
  return url.origin === target.origin ? url : new URL(target);
}

function passedOn(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const kept: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && !HOP_BY_HOP.has(name) && !name.startsWith("sec-websocket"))
      kept[name] = value;
  }
  return kept;
}

function forward(
  request: IncomingMessage,
  response: ServerResponse,
  target: URL,
  recorder: Recorder,
): void {
  const url = aim(request, target);
  const connection = recorder.connection(request.method ?? "GET", url.pathname);
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  // A compressed stream could not be recorded; without the header servers send it plain.
  const upstream = send(url, {
    method: request.method ?? "GET",
    headers: { ...passedOn(request.headers), "accept-encoding": "identity" },
  });
  const body: Buffer[] = [];
  let size = 0;
  request.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_RECORDED_BODY) body.push(chunk);
  });
  // Written before the answer can begin: the file tells things in their order.
  request.on("end", () => connection.request(Buffer.concat(body).toString("utf8")));
  request.pipe(upstream);
  let ended = false;
  const end = (reason: "complete" | "cut"): void => {
    if (!ended) connection.end(reason);
    ended = true;
  };
  response.on("close", () => {
    if (!response.writableFinished) upstream.destroy();
  });
  upstream.on("error", () => {
    end("cut");
    if (response.headersSent) response.destroy();
    else
      response
        .writeHead(502, { "content-type": "application/json" })
        .end('{"error":"the agent cannot be reached"}');
  });
  upstream.on("response", (upstreamResponse) => {
    const contentType = upstreamResponse.headers["content-type"] ?? "";
    connection.response(upstreamResponse.statusCode ?? 0, contentType);
    const tap = tapFor(contentType, connection);
    response.writeHead(upstreamResponse.statusCode ?? 502, passedOn(upstreamResponse.headers));
    response.flushHeaders();
    upstreamResponse.on("data", (chunk: Buffer) => tap.push(chunk));
    upstreamResponse.on("end", () => {
      tap.end();
      end("complete");
    });
    upstreamResponse.on("error", () => {
      end("cut");
      response.destroy();
    });
    upstreamResponse.pipe(response);
  });
}

type Tap = { push(chunk: Uint8Array): void; end(): void };

function tapFor(contentType: string, connection: ConnectionRecorder): Tap {
  if (isProto(contentType)) return protoTap(connection);
  if (mediaType(contentType) !== "text/event-stream") return { push: () => {}, end: () => {} };
  return new SseTap({
    frame: ({ data, event, id }) =>
      connection.event(data, {
        ...(event === undefined ? {} : { sseEvent: event }),
        ...(id === undefined ? {} : { sseId: id }),
      }),
    comment: (text) => connection.comment(text),
  });
}

/** Records protobuf as the events it holds; a broken frame ends the recording, never the stream. */
function protoTap(connection: ConnectionRecorder): Tap {
  const decoder = createProtoDecoder();
  return {
    push(chunk) {
      if (decoder.error !== undefined) return;
      try {
        for (const event of decoder.push(chunk)) connection.event(writeJson(event));
      } catch {
        connection.comment("the rest of the protobuf stream could not be read");
      }
    },
    end: () => {},
  };
}
