import { buildBearerSubprotocols } from "@countersign/wire/websocket";
import { createFakeClock } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createAccess } from "../../access/access.js";
import { startFixture } from "../../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../../testing/fixture.js";
import { HELD_AGENT } from "../../testing/held-agent.js";
import { startIdentity } from "../../testing/identity.js";
import type { Identity } from "../../testing/identity.js";
import { MAX_GREETING_BYTES } from "./socket-greeting.js";

let identity: Identity;
let fixture: Fixture;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());
afterEach(() => fixture.stop());

const clock = createFakeClock(Date.now());

async function start(options: FixtureOptions["gateway"] = {}): Promise<void> {
  const access = createAccess([identity.authenticator({ clock })]);
  fixture = await startFixture(HELD_AGENT, { gateway: { access, ...options } });
}

type Client = {
  socket: WebSocket;
  events: { type: string; code?: string }[];
  closed: Promise<{ code: number; reason: string }>;
  send(value: object | string): void;
  opened: Promise<boolean>;
  status: () => number | undefined;
};

function connect(
  protocols: string[] = [],
  query = "",
  headers: Record<string, string> = {},
): Client {
  const socket = new WebSocket(`${fixture.webSocketUrl}/ws${query}`, protocols, { headers });
  const events: Client["events"] = [];
  let status: number | undefined;
  socket.on("message", (data) => void events.push(JSON.parse(String(data)) as { type: string }));
  socket.on("unexpected-response", (request, response) => {
    status = response.statusCode;
    socket.terminate();
  });
  socket.on("error", () => {});
  return {
    socket,
    events,
    status: () => status,
    closed: new Promise((resolve) => {
      socket.on("close", (code, reason) => resolve({ code, reason: reason.toString() }));
    }),
    opened: new Promise((resolve) => {
      socket.on("open", () => resolve(true));
      socket.on("close", () => resolve(false));
      socket.on("unexpected-response", () => resolve(false));
    }),
    send: (value) => socket.send(typeof value === "string" ? value : JSON.stringify(value)),
  };
}
const input = (runId: string): object => ({
  threadId: "t",
  runId,
  protocolVersion: "1.0",
  messages: [],
});
const last = (client: Client): unknown => client.events.at(-1);

test("a bearer token in the sub-protocol or in the header opens a socket, and is not echoed", async () => {
  await start();
  const token = await identity.token("alice");
  for (const client of [
    connect(buildBearerSubprotocols(token)),
    connect([], "", { authorization: `Bearer ${token}` }),
  ]) {
    expect(await client.opened).toBe(true);
    expect(client.socket.protocol).not.toContain(".");
    client.send(input(`r-${Math.random()}`));
    await vi.waitFor(() => expect(last(client)).toMatchObject({ type: "RUN_FINISHED" }));
    client.socket.close();
  }
  expect(JSON.stringify(fixture.agentRequests)).not.toContain(token);
});

test("an invalid token in the upgrade is rejected before the socket opens", async () => {
  await start();
  for (const protocols of [
    buildBearerSubprotocols("nonsense"),
    buildBearerSubprotocols(await identity.token("alice", { exp: 1 })),
    ["base64UrlBearerAuthorization.YQ"],
  ]) {
    const client = connect(protocols);
    expect(await client.opened).toBe(false);
    expect(client.status()).toBe(401);
  }
});

test("the first frame may carry the token, together with the first input", async () => {
  await start();
  const client = connect();
  await client.opened;
  client.send({ type: "AUTH", token: await identity.token("alice") });
  client.send(input("r1"));
  await vi.waitFor(() => expect(last(client)).toMatchObject({ type: "RUN_FINISHED" }));
  client.send(input("r2"));
  await vi.waitFor(() => expect(last(client)).toMatchObject({ type: "RUN_FINISHED", runId: "r2" }));
  client.socket.close();
});

test.each([
  ["an input", () => input("r1")],
  ["an AUTH without a token", () => ({ type: "AUTH" })],
  ["an AUTH with an invalid token", () => ({ type: "AUTH", token: "x.y.z" })],
  ["no JSON", () => "AUTH"],
])("%s as the first frame ends the socket, and nothing is processed", async (_title, frame) => {
  await start();
  const client = connect();
  await client.opened;
  client.send(frame());
  client.send(input("r2"));
  expect((await client.closed).code).toBe(4401);
  expect(fixture.agentRequests).toEqual([]);
  expect(fixture.recorder.drafts).toEqual([]);
});

test("a socket that sends nothing, too slowly or too much before it authenticates is closed in time", async () => {
  await start({ listenLimits: { authTimeoutMs: 150 } });
  const silent = connect();
  expect((await silent.closed).code).toBe(4401);
  const flooding = connect();
  await flooding.opened;
  flooding.socket.send("x".repeat(MAX_GREETING_BYTES), { fin: false });
  flooding.socket.send("x", { fin: false });
  expect((await flooding.closed).code).toBe(4401);
  const dripping = connect();
  await dripping.opened;
  const timer = setInterval(() => dripping.socket.send("x", { fin: false }), 20);
  expect((await dripping.closed).code).toBe(4401);
  clearInterval(timer);
});

test("an expired token ends the run with an error and the socket with 4401", async () => {
  await start();
  const exp = Math.floor(clock.now() / 1000) + 60;
  const busy = connect(buildBearerSubprotocols(await identity.token("alice", { exp })));
  const idle = connect(buildBearerSubprotocols(await identity.token("alice", { exp })));
  await Promise.all([busy.opened, idle.opened]);
  busy.send(input("held"));
  await vi.waitFor(() => expect(last(busy)).toMatchObject({ type: "RUN_STARTED" }));
  clock.advance(61_000);
  expect(await busy.closed).toEqual({ code: 4401, reason: "ACCESS_EXPIRED" });
  expect(last(busy)).toMatchObject({ type: "RUN_ERROR", code: "ACCESS_EXPIRED" });
  expect(await idle.closed).toEqual({ code: 4401, reason: "ACCESS_EXPIRED" });
  await vi.waitFor(() => expect(fixture.agentRequests[0]?.signal.aborted).toBe(true));
});

test("a renewed token of the same principal keeps the socket open, another principal's ends it", async () => {
  await start();
  const exp = Math.floor(clock.now() / 1000) + 60;
  const client = connect(buildBearerSubprotocols(await identity.token("alice", { exp })));
  await client.opened;
  client.send({ type: "AUTH", token: await identity.token("alice", { exp: exp + 3600 }) });
  client.send(input("held"));
  await vi.waitFor(() => expect(last(client)).toMatchObject({ type: "RUN_STARTED" }));
  clock.advance(61_000);
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(client.socket.readyState).toBe(WebSocket.OPEN);
  client.send({ type: "AUTH", token: await identity.token("bob", { exp: exp + 3600 }) });
  expect((await client.closed).code).toBe(1008);
});

test("a socket cannot be opened on another principal's session", async () => {
  await start();
  const exp = Math.floor(clock.now() / 1000) + 3600;
  const owner = connect(
    buildBearerSubprotocols(await identity.token("alice", { exp })),
    "?session=s",
  );
  await owner.opened;
  const token = await identity.token("bob", { exp });
  const thief = connect(buildBearerSubprotocols(token), "?session=s");
  expect(await thief.opened).toBe(false);
  expect(thief.status()).toBe(403);
  const later = connect([], "?session=s");
  await later.opened;
  later.send({ type: "AUTH", token });
  expect((await later.closed).code).toBe(1008);
  owner.socket.close();
});
