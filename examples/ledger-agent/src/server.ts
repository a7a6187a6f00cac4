import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { encodeStream } from "@countersign/projection/stream";
import type { Answer, LedgerAgent } from "./agent.js";

/** A server that runs. */
export type RunningServer = { readonly url: string; stop(): Promise<void> };

const MAX_BODY = 1024 * 1024;

/** Serves the agent: `POST /`, `GET /threads/:id/stream`, `GET /capabilities`, `GET /ping`. */
export async function serve(
  agent: LedgerAgent,
  port: number,
  host = "127.0.0.1",
): Promise<RunningServer> {
  const server = createServer((request, response) => {
    void handle(agent, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}/`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function handle(
  agent: LedgerAgent,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://localhost");
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const thread = /^\/threads\/([^/]+)\/stream$/.exec(url.pathname)?.[1];
  if (request.method === "POST" && (url.pathname === "/" || url.pathname === "/invocations")) {
    const body = await bodyOf(request);
    if (body === undefined) sendJson(response, 413, { error: "the body is too large" });
    else await send(response, agent.submit(body, gone.signal), gone.signal, false);
  } else if (request.method === "GET" && thread !== undefined) {
    const after = Number(request.headers["last-event-id"] ?? url.searchParams.get("after") ?? 0);
    const cursor = Number.isSafeInteger(after) && after >= 0 ? after : 0;
    const answer = agent.resume(decodeURIComponent(thread), cursor, gone.signal);
    await send(response, answer, gone.signal, true);
  } else if (request.method === "GET" && url.pathname === "/capabilities") {
    sendJson(response, 200, agent.capabilities());
  } else if (request.method === "GET" && url.pathname === "/ping") {
    sendJson(response, 200, { status: "Healthy" });
  } else sendJson(response, 404, { error: "no such path" });
}

async function send(
  response: ServerResponse,
  answer: Answer,
  signal: AbortSignal,
  hasIds: boolean,
): Promise<void> {
  if (answer.status === 204) {
    response.writeHead(204).end();
    return;
  }
  if (answer.status !== 200) {
    sendJson(response, answer.status, { error: answer.error, issues: answer.issues });
    return;
  }
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache, no-transform",
    "x-accel-buffering": "no",
  });
  for await (const text of encodeStream(answer.frames, { hasIds })) {
    if (signal.aborted) return;
    if (!response.write(text)) await drained(response);
  }
  response.end();
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    response.once("drain", resolve);
    response.once("close", resolve);
  });
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

async function bodyOf(request: IncomingMessage): Promise<Uint8Array | undefined> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of request) {
    size += (part as Buffer).length;
    if (size > MAX_BODY) return undefined;
    parts.push(part as Buffer);
  }
  return Buffer.concat(parts);
}
