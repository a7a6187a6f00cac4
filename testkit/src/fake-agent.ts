import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";

/** A request as the agent received it. */
export type FakeRequest = {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: string;
  /** Aborts when the peer goes away. */
  signal: AbortSignal;
};

/** The agent's response: a status line, then raw chunks, written exactly as they are yielded. */
export type FakeAnswer = {
  status?: number;
  headers?: Record<string, string>;
  /** Bytes or text, written piece by piece; a piece of `"reset"` wrapped as `RESET` tears the connection down. */
  pieces: AsyncIterable<FakePiece> | Iterable<FakePiece>;
};

/** Tears the connection down without a clean end. */
export const RESET = Symbol("reset");

/** One write, or the end of the connection by force. */
export type FakePiece = string | Uint8Array | typeof RESET;

/** A running agent. */
export type FakeAgent = {
  url: string;
  webSocketUrl: string;
  /** Every request seen so far, WebSocket frames included (method `WS`). */
  requests: FakeRequest[];
  stop(): Promise<void>;
};

/** Decides the answer to each request or WebSocket frame. */
export type FakeScript = (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;

/** Formats one event as an SSE frame with LF endings. */
export function sseFrame(event: unknown): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** Starts an agent on a free loopback port that answers every path by the script. */
export async function startFakeAgent(script: FakeScript): Promise<FakeAgent> {
  const requests: FakeRequest[] = [];
  const server = createServer((request, response) => {
    void serveHttp(request, response, script, requests);
  });
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket, request) => serveSocket(socket, request, script, requests));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    webSocketUrl: `ws://127.0.0.1:${port}/`,
    requests,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets.clients) socket.terminate();
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

async function serveHttp(
  request: IncomingMessage,
  response: ServerResponse,
  script: FakeScript,
  requests: FakeRequest[],
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const seen: FakeRequest = {
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: request.headers,
    body: Buffer.concat(parts).toString("utf8"),
    signal: gone.signal,
  };
  requests.push(seen);
  const answer = await script(seen);
  response.writeHead(answer.status ?? 200, {
    "content-type": "text/event-stream",
    ...answer.headers,
  });
  response.flushHeaders();
  for await (const piece of answer.pieces) {
    if (gone.signal.aborted) return;
    if (piece === RESET) {
      response.destroy();
      return;
    }
    if (!response.write(piece)) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          response.off("drain", go);
          response.off("close", go);
          resolve();
        };
        response.once("drain", go);
        response.once("close", go);
      });
    }
  }
  response.end();
}

function serveSocket(
  socket: WebSocket,
  request: IncomingMessage,
  script: FakeScript,
  requests: FakeRequest[],
): void {
  const gone = new AbortController();
  socket.on("close", () => gone.abort());
  socket.on("message", (data) => {
    const seen: FakeRequest = {
      method: "WS",
      path: request.url ?? "/",
      headers: request.headers,
      body: data.toString(),
      signal: gone.signal,
    };
    requests.push(seen);
    void (async () => {
      const answer = await script(seen);
      for await (const piece of answer.pieces) {
        if (gone.signal.aborted) return;
        if (piece === RESET) {
          socket.terminate();
          return;
        }
        socket.send(piece);
      }
    })();
  });
}
