import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@countersign/core";
import { encodeSse } from "@countersign/wire/sse";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import { A2A_PATH, answerFront, isForFront, MCP_PATH } from "./front.js";
import type { AgentLogic, AgentRequest } from "./turn.js";
import { readBody } from "../runner/loopback.js";

/** A demo agent that listens. */
export type RunningAgent = {
  readonly url: string;
  readonly webSocketUrl: string;
  /** The addresses at which it is a server for other agents. */
  readonly endpoints: { readonly mcp: string; readonly a2a: string };
  close(): Promise<void>;
};

const MOST_OF_A_BODY = 1_048_576;

/**
 * Serves an agent on the loopback interface: POST, GET with `input` in the query, and WebSocket.
 *
 * Rejects with the system's error, which names address and port, when it cannot listen there.
 */
export async function serveAgent(logic: AgentLogic, port = 0): Promise<RunningAgent> {
  const server = createServer((request, response) => {
    answerHttp(logic, request, response).catch(() => response.destroy());
  });
  const sockets = new WebSocketServer({ server, maxPayload: MOST_OF_A_BODY });
  sockets.on("connection", (socket, { headers }) => {
    socket.on("message", (data) => {
      const request = { method: "POST", headers: asJson(headers), body: data.toString() };
      // An unreadable message closes only its socket, as unsupported data.
      answerFrame(logic, socket, request).catch(() => socket.close(1003));
    });
    socket.on("error", () => socket.terminate());
  });
  await new Promise<void>((resolve, reject) => {
    // The WebSocket server re-emits the HTTP server's errors, and an unhandled one ends the process.
    // Examples: a port in use, and later a connection that could not be accepted.
    sockets.on("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}/`,
    webSocketUrl: `ws://127.0.0.1:${address.port}/`,
    endpoints: {
      mcp: `http://127.0.0.1:${address.port}${MCP_PATH}`,
      a2a: `http://127.0.0.1:${address.port}${A2A_PATH}`,
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function answerFrame(
  logic: AgentLogic,
  socket: WebSocket,
  request: AgentRequest,
): Promise<void> {
  const answer = await logic.answer(request);
  const events =
    "events" in answer
      ? answer.events
      : [{ type: "RUN_ERROR", message: "refused", code: `REFUSED_${answer.refusal.code}` }];
  for (const event of events) socket.send(JSON.stringify(event));
}

/** A frame has no content type; it is JSON by agreement. */
function asJson(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  return { ...headers, "content-type": "application/json" };
}

async function answerHttp(
  logic: AgentLogic,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const isGet = request.method === "GET";
  const { searchParams, pathname } = new URL(request.url ?? "/", "http://agent.invalid");
  const body = isGet ? (searchParams.get("input") ?? "") : await readBody(request, MOST_OF_A_BODY);
  if (body === undefined) return refuse(response, 413, "TOO_LARGE");
  if (isForFront(pathname)) return answerFront(logic, request, response, pathname, body);
  const headers = isGet ? asJson(request.headers) : request.headers;
  const answer = await logic.answer({ method: request.method ?? "", headers, body });
  if ("refusal" in answer) return refuse(response, answer.refusal.status, answer.refusal.code);
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  for (const event of answer.events) response.write(encodeSse(JSON.stringify(event)));
  response.end();
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const problem: JsonObject = { type: "about:blank", title: "Request refused", status, code };
  response.writeHead(status, { "content-type": "application/problem+json" });
  response.end(JSON.stringify(problem));
}
