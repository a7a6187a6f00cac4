import { isCountersignError, parseJson } from "@countersign/core";
import type { JsonValue } from "@countersign/core";
import { BEARER_SUBPROTOCOL, decodeTextFrame } from "@countersign/wire/websocket";
import type { IncomingMessage } from "node:http";
import type { Server } from "node:net";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { problemOf } from "../clients/refusal.js";
import { createSocketSink } from "../clients/socket-sink.js";
import { startRun } from "../runs/start-run.js";
import type { Surroundings } from "../runs/surroundings.js";
import type { RunHandle } from "../sessions/session.js";
import type { Upstream } from "../upstream/upstream.js";
import { clientDialectOf } from "./client-dialect.js";
import { routeSocket } from "./path.js";
import { sessionOf } from "./session-id.js";

/** Close codes: a policy's no, input that cannot be read, a second run while one is open. */
const CLOSE = { policy: 1008, unreadable: 1003 } as const;

/** Accepts WebSockets on the listener's known paths; anything else gets its HTTP answer. */
export function attachSockets(
  around: Surroundings,
  server: Server,
  origins: ReadonlySet<string>,
): void {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: around.limits.maxInputBytes,
    // The name alone is selected: answering with the one that holds the token would echo it.
    handleProtocols: (offered) => (offered.has(BEARER_SUBPROTOCOL) ? BEARER_SUBPROTOCOL : false),
  });
  server.on("upgrade", (request: IncomingMessage, connection, head) => {
    const url = new URL(request.url ?? "/", "http://gateway.invalid");
    const route = routeSocket(url.pathname);
    const { origin } = request.headers;
    const name = route.kind === "socket" ? (route.agent ?? url.searchParams.get("agent")) : null;
    const upstream = name === null ? around.agents.fallback : around.agents.find(name);
    if (route.kind === "unknown" || upstream === undefined)
      return refuseUpgrade(connection, "404 Not Found");
    if (origin !== undefined && !origins.has(origin) && !isSameHost(origin, request)) {
      return refuseUpgrade(connection, "403 Forbidden");
    }
    return sockets.handleUpgrade(request, connection, head, (socket) => {
      serveSocket(around, upstream, socket, request, url);
    });
  });
}

function refuseUpgrade(connection: { end(text: string): void }, status: string): void {
  connection.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}

function isSameHost(origin: string, request: IncomingMessage): boolean {
  return URL.canParse(origin) && new URL(origin).host === request.headers.host;
}

function serveSocket(
  around: Surroundings,
  upstream: Upstream,
  socket: WebSocket,
  request: IncomingMessage,
  url: URL,
): void {
  const sessionId = sessionOf(request, url) ?? around.mintId("session");
  const clientDialect = clientDialectOf(request, url);
  let current: RunHandle | undefined;
  let starting = false;

  const start = async (text: string): Promise<void> => {
    if (starting || current?.status === "running") {
      fail(socket, "ERR_RUN_ACTIVE", "a run is still going on this socket", CLOSE.policy);
      return;
    }
    starting = true;
    try {
      const { handle, done } = await startRun(around, {
        upstream,
        bytes: text,
        sessionId,
        transport: "websocket",
        clientDialect,
        openSink: () => createSocketSink(socket, () => {}),
      });
      current = handle;
      starting = false;
      await done;
    } catch (error) {
      const { code, title, status } = problemOf(error);
      fail(socket, code, title, status === 400 ? CLOSE.unreadable : CLOSE.policy);
    } finally {
      starting = false;
    }
  };

  socket.on("error", () => socket.terminate());
  socket.on("close", () => current?.stop("the client went away"));
  socket.on("message", (data, isBinary) => {
    if (isBinary) return fail(socket, "FRAME_BINARY", "text frames only", CLOSE.unreadable);
    const text = data.toString();
    const message = readMessage(text, socket);
    if (message === undefined) return undefined;
    if (isStop(message)) return current?.stop("stop was asked for");
    return void start(text);
  });
  // Agents that only stream need no input: the session itself asks for the stream.
  if (upstream.target.dialect === "chio" || upstream.target.transport === "get-sse") {
    void start(
      JSON.stringify({
        threadId: sessionId,
        runId: around.mintId("run"),
        protocolVersion: "1.0",
        messages: [],
      }),
    );
  }
}

function readMessage(text: string, socket: WebSocket): JsonValue | undefined {
  try {
    const [first] = decodeTextFrame(text);
    return parseJson(first ?? "");
  } catch (error) {
    const code = isCountersignError(error) ? error.code : "FRAME_UNREADABLE";
    fail(socket, code, "the frame is not readable JSON", CLOSE.unreadable);
    return undefined;
  }
}

/** A stop is `{"type":"STOP"}`, in any case: the button that the first protocol document asked for. */
function isStop(message: JsonValue): boolean {
  if (typeof message !== "object" || message === null || Array.isArray(message)) return false;
  const { type } = message as { type?: JsonValue };
  return typeof type === "string" && type.toUpperCase() === "STOP";
}

function fail(socket: WebSocket, code: string, message: string, close: number): void {
  socket.send(JSON.stringify({ type: "RUN_ERROR", message, code }));
  socket.close(close, code);
}
