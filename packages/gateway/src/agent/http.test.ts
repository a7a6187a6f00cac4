import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { LightSignal } from "@countersign/core";
import { createUpstream } from "./connect.js";
import type { UpstreamTarget } from "./upstream.js";

let server: Server | undefined;
afterEach(() => server?.close());

const TARGET: Omit<UpstreamTarget, "url"> = {
  name: "a",
  transport: "post-sse",
  headers: { "x-key": "k" },
  frames: "json",
  dialect: "auto",
  forwardAuthorization: false,
  answerTimeoutMs: 5000,
  idleTimeoutMs: 5000,
};

/** The request that an agent at this URL receives. */
async function heard(
  address: (port: number) => string,
  target: Partial<UpstreamTarget> = {},
): Promise<{ line: string; headers: IncomingMessage["headers"]; body: string; port: number }> {
  let listening: Server | undefined;
  const asked = new Promise<{ request: IncomingMessage; body: string }>((resolve) => {
    listening = createServer((request, answer) => {
      let body = "";
      request.on("data", (chunk) => (body += String(chunk)));
      request.on("end", () => {
        answer.writeHead(200, { "content-type": "text/event-stream" }).end();
        resolve({ request, body });
      });
    });
  });
  const started = listening as unknown as Server;
  server = started;
  await new Promise<void>((resolve) => void started.listen(0, "127.0.0.1", resolve));
  const { port } = started.address() as AddressInfo;
  const upstream = createUpstream({ ...TARGET, url: new URL(address(port)), ...target });
  const { pieces } = await upstream.open({
    body: '{"a":"ü"}',
    sessionId: "s",
    signal: new LightSignal(),
    authorization: undefined,
    traceparent: undefined,
  });
  const { request, body } = await asked;
  pieces.close();
  upstream.close();
  return { line: `${request.method} ${request.url}`, headers: request.headers, body, port };
}

test("an agent receives its own path and query, its host, the configured headers and the unchanged body", async () => {
  const { line, headers, body, port } = await heard(
    (at) => `http://127.0.0.1:${at}/run/%C3%BC?a=1&b=`,
  );
  expect(line).toBe("POST /run/%C3%BC?a=1&b=");
  expect(headers).toMatchObject({
    host: `127.0.0.1:${port}`,
    connection: "keep-alive",
    "x-key": "k",
    "content-type": "application/json",
    "content-length": "10",
    "accept-encoding": "identity",
  });
  expect(headers.authorization).toBeUndefined();
  expect(body).toBe('{"a":"ü"}');
});

test("an agent is asked for SSE only, unless it is configured for protobuf", async () => {
  const address = (at: number): string => `http://127.0.0.1:${at}/`;
  expect((await heard(address)).headers.accept).toBe("text/event-stream");
  expect((await heard(address, { accept: "protobuf" })).headers.accept).toBe(
    "application/vnd.ag-ui.event+proto, text/event-stream;q=0.5",
  );
});

test("an agent on GET receives the session in its query", async () => {
  const { line, body } = await heard((at) => `http://127.0.0.1:${at}/?x=1`, {
    transport: "get-sse",
  });
  expect(line).toBe("GET /?x=1&session=s");
  expect(body).toBe("");
});

test("a user name and password in a URL become Basic credentials, unless a header is configured", async () => {
  const address = (at: number): string => `http://us%40er:p%C3%A4ss@127.0.0.1:${at}/`;
  const { headers } = await heard(address);
  const credentials = Buffer.from("us@er:päss").toString("base64");
  expect(headers.authorization).toBe(`Basic ${credentials}`);
  server?.close();
  const own = await heard(address, { headers: { authorization: "Bearer t" } });
  expect(own.headers.authorization).toBe("Bearer t");
});

/** A server that counts connections and keeps the requests; `hangUp` closes all connections. */
async function listening(): Promise<{
  upstream: ReturnType<typeof createUpstream>;
  bodies: string[];
  connected(count: number): Promise<void>;
  hangUp(): Promise<void>;
}> {
  const bodies: string[] = [];
  const sockets: Socket[] = [];
  const started = createServer((request, answer) => {
    let body = "";
    request.on("data", (chunk) => (body += String(chunk)));
    request.on("end", () => {
      bodies.push(body);
      answer.writeHead(200, { "content-type": "text/event-stream" }).end();
    });
  });
  started.on("connection", (socket) => sockets.push(socket));
  server = started;
  await new Promise<void>((resolve) => void started.listen(0, "127.0.0.1", resolve));
  const { port } = started.address() as AddressInfo;
  return {
    upstream: createUpstream({ ...TARGET, url: new URL(`http://127.0.0.1:${port}/`) }),
    bodies,
    connected: (count) => vi.waitFor(() => expect(sockets).toHaveLength(count)),
    hangUp: async () => {
      await Promise.all(sockets.map((socket) => once(socket.destroy(), "close")));
      // The other end reads the end of its connection in one of the next turns.
      for (let turns = 0; turns < 20; turns += 1) await turn();
    },
  };
}

const REQUEST = { body: "{}", sessionId: "s", signal: new LightSignal() };

test("a connection opens before its request is sent, and carries nothing until then", async () => {
  const { upstream, bodies, connected } = await listening();
  const connection = upstream.connect?.(REQUEST);
  await connected(1);
  expect(bodies).toEqual([]);
  const stream = await connection?.send();
  expect(bodies).toEqual(["{}"]);
  await connected(1);
  stream?.pieces.close();
  upstream.close();
});

test("a connection that is closed before its request is sent is replaced, and the request is sent once", async () => {
  const { upstream, bodies, connected, hangUp } = await listening();
  const connection = upstream.connect?.(REQUEST);
  await connected(1);
  await hangUp();
  const stream = await connection?.send();
  await connected(2);
  expect(bodies).toEqual(["{}"]);
  stream?.pieces.close();
  upstream.close();
});

test("a connection whose request is refused is closed without it", async () => {
  const { upstream, bodies, connected } = await listening();
  const connection = upstream.connect?.(REQUEST);
  await connected(1);
  connection?.close();
  await new Promise((resolve) => server?.close(resolve));
  expect(bodies).toEqual([]);
  upstream.close();
});
