import { createServer, get } from "node:http";
import type { IncomingMessage } from "node:http";
import { connect as connectHttp2, createServer as createHttp2Server } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { connect } from "node:net";
import type { AgUiEvent } from "@countersign/wire";
import { createProtoDecoder } from "@countersign/wire/proto";
import { afterEach, expect, test, vi } from "vitest";
import type { HttpRequest, HttpResponse } from "./exchange.js";
import { createHttpSink, signalOfClose } from "./http-sink.js";
import type { HttpEncoding } from "./http-sink.js";
import type { ClientSink } from "../event/sink.js";

const EVENTS: AgUiEvent[] = [
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: "Grüße, 世界" },
  { type: "TEXT_MESSAGE_END", messageId: "m" },
];
const FRAMES = EVENTS.map((event) => `data: ${JSON.stringify(event)}\n\n`);

let close = (): void => {};
afterEach(() => close());

/** A server that responds to each request with two writes of events; the test reads raw bytes. */
async function startAnswering(encoding: HttpEncoding): Promise<Socket> {
  const server = createServer((_request, response) => {
    const sink = createHttpSink(response, encoding, signalOfClose(response));
    sink.send(EVENTS.slice(0, 1));
    sink.heartbeat();
    sink.send(EVENTS.slice(1));
    sink.end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  close = () => {
    socket.destroy();
    server.close();
  };
  return socket;
}

/** Reads one response up to its last chunk (RFC 9112). */
async function readAnswer(socket: Socket): Promise<{ head: string; body: Buffer }> {
  let bytes = Buffer.alloc(0);
  const until = async (has: () => boolean): Promise<void> => {
    while (!has()) {
      const piece = await new Promise<Buffer>((resolve) => socket.once("data", resolve));
      bytes = Buffer.concat([bytes, piece]);
    }
  };
  const line = async (): Promise<string> => {
    await until(() => bytes.includes("\r\n"));
    const end = bytes.indexOf("\r\n");
    const text = bytes.toString("latin1", 0, end);
    bytes = bytes.subarray(end + 2);
    return text;
  };
  let head = "";
  for (let text = await line(); text !== ""; text = await line()) head += `${text}\n`;
  const chunks: Buffer[] = [];
  for (;;) {
    const size = Number.parseInt(await line(), 16);
    await until(() => bytes.length >= size + 2);
    chunks.push(bytes.subarray(0, size));
    expect(bytes.toString("latin1", size, size + 2)).toBe("\r\n");
    bytes = bytes.subarray(size + 2);
    if (size === 0) return { head, body: Buffer.concat(chunks) };
  }
}

test("events leave as HTTP/1.1 chunks with heartbeats between them, and the connection is reused", async () => {
  const socket = await startAnswering("sse");
  for (let request = 0; request < 3; request += 1) {
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    const { head, body } = await readAnswer(socket);
    expect(head.toLowerCase()).toContain("transfer-encoding: chunked\n");
    expect(body.toString()).toBe(`${FRAMES[0]}: heartbeat\n\n${FRAMES[1]}`);
  }
});

test("protobuf leaves in chunks too, and has no heartbeat", async () => {
  const socket = await startAnswering("proto");
  socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  const { body } = await readAnswer(socket);
  expect(createProtoDecoder().push(body)).toMatchObject(EVENTS);
});

test("an HTTP/1.0 client gets the events without chunks, and the end of the connection", async () => {
  const socket = await startAnswering("sse");
  socket.write("GET / HTTP/1.0\r\n\r\n");
  let text = "";
  for await (const piece of socket) text += String(piece);
  const [head, body] = text.split("\r\n\r\n");
  expect(head?.toLowerCase()).not.toContain("transfer-encoding");
  expect(body).toBe(`${FRAMES[0]}: heartbeat\n\n${FRAMES[1]}`);
});

/** Reads from a socket until it holds two complete responses. */
async function readTwo(socket: Socket): Promise<string[]> {
  let text = "";
  while (text.split(LAST_CHUNK).length < 3) {
    text += String(await new Promise<Buffer>((resolve) => socket.once("data", resolve)));
  }
  return text.split(LAST_CHUNK);
}

const LAST_CHUNK = "\r\n0\r\n\r\n";
const delta = (text: string): AgUiEvent[] => [
  { type: "TEXT_MESSAGE_CONTENT", messageId: "m", delta: text },
];

/** A server whose responses stay open, in the order of their requests. */
async function startHolding(): Promise<{ socket: Socket; sinks: ClientSink[] }> {
  const sinks: ClientSink[] = [];
  const server = createServer((_request, response) => {
    sinks.push(createHttpSink(response, "sse", signalOfClose(response)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  close = () => {
    socket.destroy();
    server.close();
  };
  return { socket, sinks };
}

const REQUEST = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";

test("a pipelined response is sent after the one before it, in whichever order they are written", async () => {
  const { socket, sinks } = await startHolding();
  socket.write(REQUEST + REQUEST);
  await vi.waitFor(() => expect(sinks).toHaveLength(2));
  const both = readTwo(socket);
  sinks[1]?.send(delta("late"));
  sinks[1]?.end();
  sinks[0]?.send(delta("early"));
  sinks[0]?.end();
  const [first, second] = await both;
  expect(first).toContain("early");
  expect(first).not.toContain("late");
  expect(second).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*"late"/u);
});

test("a sink that has ended writes nothing into the next response of its connection", async () => {
  const { socket, sinks } = await startHolding();
  const both = readTwo(socket);
  socket.write(REQUEST);
  await vi.waitFor(() => expect(sinks).toHaveLength(1));
  sinks[0]?.send(delta("mine"));
  sinks[0]?.end();
  socket.write(REQUEST);
  await vi.waitFor(() => expect(sinks).toHaveLength(2));
  sinks[0]?.send(delta("stray"));
  sinks[0]?.heartbeat();
  sinks[1]?.send(delta("yours"));
  sinks[1]?.end();
  sinks[0]?.end();
  const [first, second] = await both;
  expect(first).toContain("mine");
  expect(second).toContain("yours");
  expect(second).not.toMatch(/stray|heartbeat/u);
});

test.each(["HTTP/1.1", "HTTP/2"])(
  "over %s a close after a complete response is no disconnect, and a close before is one",
  async (version) => {
    const isHttp2 = version === "HTTP/2";
    const closed: { path: string | undefined; didLeave: boolean }[] = [];
    const serve = (request: HttpRequest, response: HttpResponse): void => {
      const gone = signalOfClose(response);
      const sink = createHttpSink(response, "sse", gone);
      sink.send(EVENTS);
      if (request.url === "/complete") sink.end();
      response.on("close", () => closed.push({ path: request.url, didLeave: gone.aborted }));
    };
    const server = isHttp2 ? createHttp2Server(serve) : createServer(serve);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const session = isHttp2 ? connectHttp2(`http://127.0.0.1:${port}`) : undefined;
    close = () => {
      session?.destroy();
      server.close();
    };
    for (const path of ["/complete", "/cut"]) {
      const stream =
        session === undefined
          ? await new Promise<IncomingMessage>((resolve) =>
              get({ port, path, agent: false }, resolve),
            )
          : session.request({ ":path": path });
      stream.on("error", () => {});
      await new Promise((resolve) => stream.once("data", resolve));
      if (path === "/cut") stream.destroy();
      else stream.resume();
      await vi.waitFor(() => expect(closed.at(-1)?.path).toBe(path));
    }
    expect(closed).toEqual([
      { path: "/complete", didLeave: false },
      { path: "/cut", didLeave: true },
    ]);
  },
);
