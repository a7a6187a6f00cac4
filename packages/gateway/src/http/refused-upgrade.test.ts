import { connect } from "node:net";
import type { Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";

let fixture: Fixture;
beforeEach(async () => {
  fixture = await startFixture(HELD_AGENT);
});
afterEach(() => fixture.stop());

const UPGRADE = [
  "GET /nothing-here HTTP/1.1",
  "Host: localhost",
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
].join("\r\n");

const connections = (): Promise<number> =>
  new Promise((resolve) => {
    fixture.gateway.dataPlane.getConnections((_error, count) => resolve(count));
  });

/** Requests an unknown path and resolves at the response, on a connection that stays open. */
async function refused(): Promise<Socket> {
  const port = Number(new URL(fixture.url).port);
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => {});
  socket.write(`${UPGRADE}\r\n\r\n`);
  const answer = await new Promise((resolve) => {
    socket.once("data", (data) => resolve(data.toString()));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 404 /);
  return socket;
}

test("a client that sends more after a refusal and hangs up leaves no connection behind", async () => {
  const socket = await refused();
  socket.write("more");
  socket.end();
  await vi.waitFor(async () => expect(await connections()).toBe(0), { timeout: 1500 });
});

test("a client that never hangs up after a refusal is disconnected", async () => {
  const socket = await refused();
  await vi.waitFor(async () => expect(await connections()).toBe(0), { timeout: 4000 });
  socket.destroy();
});
