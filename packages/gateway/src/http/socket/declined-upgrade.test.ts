import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture } from "../../testing/fixture.js";
import { HELD_AGENT } from "../../testing/held-agent.js";

let fixture: Fixture | undefined;
let socket: Socket | undefined;
afterEach(async () => {
  socket?.destroy();
  await fixture?.stop();
});

const BODY = JSON.stringify({ threadId: "t1", runId: "r1", protocolVersion: "1.0", messages: [] });

/** The first request of Java's HTTP client to a plaintext URL. */
function offering(body: string, more = ""): string {
  return [
    "POST /agents/support HTTP/1.1",
    "Connection: Upgrade, HTTP2-Settings",
    `Content-Length: ${body.length}`,
    "Host: 127.0.0.1",
    "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAABgAGAAA",
    "Upgrade: h2c",
    "Content-Type: application/json",
    ...(more === "" ? [] : [more]),
    "",
    body,
  ].join("\r\n");
}

async function open(): Promise<{ write(text: string): void; read(): string }> {
  fixture = await startFixture(HELD_AGENT);
  const connection = connect(Number(new URL(fixture.url).port), "127.0.0.1");
  socket = connection;
  let answer = "";
  connection.on("data", (bytes: Buffer) => void (answer += String(bytes)));
  connection.on("error", () => undefined);
  await new Promise((resolve) => connection.once("connect", resolve));
  return { write: (text) => void connection.write(text), read: () => answer };
}

test("a request that offers h2c gets an HTTP/1.1 response, and so does the next one of its connection", async () => {
  const { write, read } = await open();
  write(offering(BODY));
  await expect.poll(read).toContain("RUN_FINISHED");
  expect(read()).toMatch(/^HTTP\/1\.1 200 /u);
  expect(fixture?.agentRequests).toHaveLength(1);
  write(offering(BODY.replace("r1", "r2")));
  await expect.poll(() => read().match(/RUN_FINISHED/gu)).toHaveLength(2);
});

test("its body may arrive in pieces, and has the usual limit", async () => {
  const { write, read } = await open();
  const whole = offering(BODY);
  for (const place of [30, whole.length - 40, whole.length - 5]) {
    write(
      whole.slice(place === 30 ? 0 : place === whole.length - 40 ? 30 : whole.length - 40, place),
    );
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  write(whole.slice(-5));
  await expect.poll(read).toContain("RUN_FINISHED");
  write(offering("x").replace("Content-Length: 1", "Content-Length: 99999999"));
  await expect.poll(read).toContain("413");
});

test("an offer next to others, of an unknown protocol, or without a body does not bypass a refusal", async () => {
  const { write, read } = await open();
  write(
    "GET /nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: irc/6.9\r\n\r\n",
  );
  await expect.poll(read).toContain('"NOT_FOUND"');
  write(offering(BODY, "Origin: https://evil.example"));
  await expect.poll(read).toContain("ORIGIN_NOT_ALLOWED");
  expect(fixture?.agentRequests).toHaveLength(0);
});

test.each([
  ["Content-Length: 5", "hello", "400 Bad Request"],
  ["Content-Length: 5", "he", "400 Bad Request"],
  ["Transfer-Encoding: chunked", "5\r\nhello\r\n", "400 Bad Request"],
  ["Content-Length: 0", "", "101 Switching Protocols"],
])("a WebSocket handshake with %j and %j gets %s", async (header, body, status) => {
  const { write, read } = await open();
  const head = [
    "GET /ws HTTP/1.1",
    "Host: 127.0.0.1",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    header,
  ];
  write(`${head.join("\r\n")}\r\n\r\n${body}`);
  await expect.poll(read).toContain(`HTTP/1.1 ${status}`);
});

test("a connection whose request was parsed twice is counted once", async () => {
  const { write, read } = await open();
  write(offering(BODY));
  await expect.poll(read).toContain("RUN_FINISHED");
  const count = await new Promise<number>((resolve) => {
    fixture?.gateway.dataPlane.getConnections((_error, connections) => resolve(connections));
  });
  expect(count).toBe(1);
});
