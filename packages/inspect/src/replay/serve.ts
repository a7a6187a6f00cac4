import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { CountersignError } from "@countersign/core";
import { encodeSse, encodeSseComment } from "@countersign/wire/sse";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { EventLine } from "../recording/line.js";
import { textOf } from "../recording/line.js";
import { listConnections, readConnection } from "../recording/read-recording.js";
import type { OpenRecording, RecordedConnection } from "../recording/read-recording.js";
import { createIdEcho } from "./echo-ids.js";

/** Waits until a recorded time, relative to the first call; `Infinity` never waits. */
export function createPace(speed = 1): (atMs: number) => Promise<void> {
  if (!(speed > 0)) throw new TypeError("speed must be above 0");
  let began: number | undefined;
  let first = 0;
  return async (atMs) => {
    if (speed === Infinity) return;
    if (began === undefined) {
      began = performance.now();
      first = atMs;
    }
    const wait = (atMs - first) / speed - (performance.now() - began);
    if (wait > 1) await new Promise((done) => setTimeout(done, wait));
  };
}

declare module "@countersign/core" {
  interface ErrorFacts {
    /** A recording to be replayed holds no event. */
    ERR_INSPECT_RECORDING_EMPTY: Record<never, never>;
  }
}

/** How to replay a recording. */
export type ReplayOptions = {
  readonly open: OpenRecording;
  readonly host?: string;
  readonly port?: number;
  /** 1 is the original timing, 2 twice as fast, Infinity without any wait. */
  readonly speed?: number;
  /** Answers with the ids of the request instead of the recorded ones. */
  readonly echoIds?: boolean;
  /** Called when a connection is served. */
  readonly onServe?: (connId: string) => void;
};

/** A running replay. */
export type Replay = {
  readonly url: string;
  readonly webSocketUrl: string;
  readonly connections: readonly RecordedConnection[];
  close(): Promise<void>;
};

const LOCAL = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const MAX_BODY = 10 * 1024 * 1024;
/** The close code for a defect on the server's side. */
const UNREADABLE = 1011;

/**
 * Serves a recording as an agent, over SSE and WebSocket: the first request gets the first recorded
 * connection, the next one the second, and after the last it begins again. Nothing is held in memory.
 * Rejects with the system's error, which names address and port, when it cannot listen there.
 *
 * @throws CountersignError `ERR_INSPECT_RECORDING_EMPTY` when there is nothing to replay
 */
export async function startReplay(options: ReplayOptions): Promise<Replay> {
  const connections = (await listConnections(options.open)).filter(({ events }) => events > 0);
  if (connections.length === 0) {
    throw new CountersignError("ERR_INSPECT_RECORDING_EMPTY", "the recording holds no event", {});
  }
  let served = 0;
  const next = (): string => {
    const { connId = "" } = connections[served++ % connections.length] ?? {};
    options.onServe?.(connId);
    return connId;
  };
  const server = createServer((request, response) => {
    // A client that disconnects, or an unreadable recording, ends only this connection.
    handleRequest(request, response, options, next).catch(() => response.destroy());
  });
  const sockets = new WebSocketServer({
    server,
    verifyClient: ({ origin }: { origin?: string }) => isLocal(origin),
  });
  sockets.on("connection", (socket) => {
    socket.on("message", (data) => {
      sendFrames(socket, String(data), options, next()).catch(() => socket.close(UNREADABLE));
    });
    socket.on("error", () => {});
  });
  await new Promise<void>((done, failed) => {
    // The WebSocket server re-emits the HTTP server's errors, and an unhandled one ends the process.
    // Examples: a port in use, and later a connection that could not be accepted.
    sockets.on("error", failed);
    server.listen(options.port ?? 0, options.host ?? "127.0.0.1", done);
  });
  const place = `${options.host ?? "127.0.0.1"}:${(server.address() as AddressInfo).port}/`;
  return {
    url: `http://${place}`,
    webSocketUrl: `ws://${place}`,
    connections,
    close: () =>
      new Promise((done) => {
        for (const socket of sockets.clients) socket.terminate();
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: ReplayOptions,
  next: () => string,
): Promise<void> {
  response.on("error", () => {});
  const { origin } = request.headers;
  if (!isLocal(origin)) {
    response.writeHead(403).end();
    return;
  }
  const cors = {
    ...(origin === undefined ? {} : { "access-control-allow-origin": origin }),
    "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "*",
    "access-control-allow-methods": "GET, POST",
    vary: "origin",
  };
  if (request.method === "OPTIONS") {
    response.writeHead(204, cors).end();
    return;
  }
  const body = await readBody(request);
  const pace = createPace(options.speed);
  const echo = options.echoIds === true ? createIdEcho(body) : undefined;
  const head = {
    "content-type": "text/event-stream",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
    ...cors,
  };
  for await (const line of readConnection(options.open, next())) {
    if (response.destroyed) return;
    if (line.kind === "response" && line.status >= 400) {
      response.writeHead(line.status, { "content-type": "application/json", ...cors }).end("{}");
      return;
    }
    if (line.kind === "end" && line.reason === "cut") {
      response.destroy();
      return;
    }
    if (line.kind !== "event" && line.kind !== "comment") continue;
    await pace(line.tMs);
    if (!response.headersSent) response.writeHead(200, head);
    const text = line.kind === "comment" ? encodeSseComment(line.text) : encodeEvent(line, echo);
    if (!response.write(text))
      await new Promise<void>((done) => response.once("drain", done).once("close", done));
  }
  response.end();
}

function encodeEvent(line: EventLine, echo: ((line: EventLine) => string) | undefined): string {
  const text = echo === undefined ? textOf(line) : echo(line);
  if (line.sseEvent === undefined && line.sseId === undefined) return encodeSse(text);
  return encodeSse(text, {
    ...(line.sseEvent === undefined ? {} : { event: line.sseEvent }),
    ...(line.sseId === undefined ? {} : { id: line.sseId }),
  });
}

async function sendFrames(
  socket: WebSocket,
  input: string,
  options: ReplayOptions,
  connId: string,
): Promise<void> {
  const pace = createPace(options.speed);
  const echo = options.echoIds === true ? createIdEcho(input) : undefined;
  for await (const line of readConnection(options.open, connId)) {
    if (socket.readyState !== socket.OPEN) return;
    if (line.kind === "end" && line.reason === "cut") socket.terminate();
    if (line.kind !== "event") continue;
    await pace(line.tMs);
    const text = echo === undefined ? textOf(line) : echo(line);
    // A slow reader holds the file back, not the memory.
    await new Promise<void>((done) => socket.send(text, () => done()));
  }
}

/** A recording holds payloads: only pages of this machine, and programs, may read it. */
function isLocal(origin: string | undefined): boolean {
  return origin === undefined || LOCAL.test(origin);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size <= MAX_BODY) parts.push(part as Buffer);
  }
  return Buffer.concat(parts).toString("utf8");
}
