import { createFakeClock } from "@countersign/testkit";
import { afterEach, expect, test, vi } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { AddressInfo } from "node:net";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../../testing/fixture.js";
import { HELD_AGENT } from "../../testing/held-agent.js";

let fixture: Fixture;
let agent: WebSocketServer | undefined;
afterEach(async () => {
  await fixture.stop();
  for (const socket of agent?.clients ?? []) socket.terminate();
  agent?.close();
  agent = undefined;
});

async function connect(options: FixtureOptions = {}): Promise<WebSocket> {
  fixture = await startFixture(HELD_AGENT, options);
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws`);
  socket.on("error", () => undefined);
  await new Promise((resolve) => socket.once("open", resolve));
  return socket;
}

const closeOf = (socket: WebSocket): Promise<string> =>
  new Promise((resolve) => {
    socket.once("close", (code, reason) => resolve(`${code} ${reason.toString()}`));
  });

test("a client's ping is answered with its own bytes", async () => {
  const socket = await connect();
  const answer = new Promise((resolve) => {
    socket.once("pong", (data) => resolve(data.toString()));
  });
  socket.ping("are you there");
  expect(await answer).toBe("are you there");
  socket.terminate();
});

test.each(["ping", "pong"] as const)(
  "a flood of %ss ends a socket as a flood of frames does",
  async (kind) => {
    const socket = await connect({ gateway: { listenLimits: { messagesPerSecond: 5 } } });
    const closed = closeOf(socket);
    for (let count = 0; count < 30; count += 1) socket[kind]();
    expect(await closed).toBe("1008 ERR_SOCKET_RATE");
  },
);

test("a clock that jumps ahead does not make a socket idle", async () => {
  const clock = createFakeClock(Date.now());
  const socket = await connect({ gateway: { clock, listenLimits: { socketIdleMs: 60_000 } } });
  const closed = closeOf(socket);
  clock.advance(3_600_000);
  // The watch checks once a second.
  const open = new Promise((resolve) => setTimeout(resolve, 1200, "open"));
  expect(await Promise.race([closed, open])).toBe("open");
  socket.terminate();
});

test("a client that does not answer the close frame is terminated", async () => {
  const socket = await connect({ gateway: { listenLimits: { messagesPerSecond: 5 } } });
  const closed = closeOf(socket);
  for (let count = 0; count < 30; count += 1) socket.ping();
  socket.pause();
  await vi.waitFor(() => expect(fixture.gateway.context.telemetry.sockets.open).toBe(0), {
    timeout: 5000,
  });
  socket.resume();
  await closed;
});

test("an agent's ping is answered with its own bytes", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  agent = server;
  await new Promise((resolve) => server.once("listening", resolve));
  const answer = new Promise((resolve) => {
    server.once("connection", (up) => {
      up.once("pong", (data) => resolve(data.toString()));
      up.ping("gateway");
    });
  });
  const url = new URL(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const socket = await connect({ target: { transport: "websocket", url } });
  socket.send(JSON.stringify({ threadId: "t", runId: "r", messages: [] }));
  expect(await answer).toBe("gateway");
  socket.terminate();
});
