import { createFakeClock } from "@countersign/testkit";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createAccess } from "../access/access.js";
import { CLIENTS } from "../testing/client.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";

let identity: Identity;
let fixture: Fixture;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());
afterEach(() => fixture.stop());

const clock = createFakeClock(Date.now());
const INPUT = { threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] };

async function start(options: FixtureOptions["gateway"] = {}): Promise<void> {
  const access = createAccess([identity.authenticator({ clock })]);
  fixture = await startFixture(HELD_AGENT, { gateway: { access, ...options } });
}

/** How a socket ends that authenticates with its first frame. */
function greet(path: string, token: string): Promise<{ status?: number; code?: number }> {
  const socket = new WebSocket(`${fixture.webSocketUrl}${path}`);
  return new Promise((resolve) => {
    socket.on("error", () => {});
    socket.on("unexpected-response", (_request, { statusCode }) =>
      resolve({ status: statusCode ?? 0 }),
    );
    socket.on("open", () => socket.send(JSON.stringify({ type: "AUTH", token })));
    socket.on("close", (code) => resolve({ code }));
  });
}

test("an unauthenticated socket is closed soon after its refusal, whatever it keeps sending", async () => {
  await start({ listenLimits: { authTimeoutMs: 200 } });
  const { port } = new URL(fixture.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => {});
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  );
  // A masked text frame of 8 MB that is never completed, from a client that neither reads nor closes.
  const head = Buffer.alloc(14);
  head.writeUInt16BE(0x81ff, 0);
  head.writeBigUInt64BE(8n * 1024n * 1024n, 2);
  socket.write(head);
  socket.pause();
  const drip = setInterval(() => socket.write(Buffer.alloc(32 * 1024)), 5);
  await closed;
  clearInterval(drip);
  expect(socket.bytesWritten).toBeLessThan(4 * 1024 * 1024);
});

test("a socket learns which agents exist only after it authenticates", async () => {
  await start();
  expect(await greet("/agents/support/ws", "wrong")).toEqual({ code: 4401 });
  expect(await greet("/agents/nobody/ws", "wrong")).toEqual({ code: 4401 });
  const token = await identity.token("alice");
  expect(await greet("/agents/nobody/ws", token)).toEqual({ code: 1008 });
  const asked = async (path: string, authorization: string): Promise<number | undefined> => {
    const socket = new WebSocket(`${fixture.webSocketUrl}${path}`, { headers: { authorization } });
    socket.on("error", () => {});
    return new Promise((resolve) => {
      socket.on("unexpected-response", (_request, { statusCode }) => resolve(statusCode));
    });
  };
  expect(await asked("/agents/nobody/ws", "Bearer wrong")).toBe(401);
  expect(await asked("/agents/nobody/ws", `Bearer ${token}`)).toBe(404);
});

test("a page whose name resolves to this machine starts nothing, although it sends no origin", async () => {
  fixture = await startFixture(HELD_AGENT, { gateway: { origins: ["https://app.example"] } });
  const { port } = new URL(fixture.url);
  const get = (host: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const path = `/ag-ui/stream?session=${host.replaceAll(/\W/g, "-")}`;
      const asked = httpRequest({ port, host: "127.0.0.1", path, headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on("error", reject);
      asked.end();
    });
  expect(await get(`evil.example:${port}`)).toBe(403);
  expect(await get("127.0.0.1.evil.example")).toBe(403);
  expect(fixture.agentRequests).toHaveLength(0);
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, "[::1]:1", "app.example"]) {
    expect([host, await get(host)]).toEqual([host, 200]);
  }
});

test("a token that expires while the body still arrives opens nothing", async () => {
  await start();
  const exp = Math.floor(clock.now() / 1000) + 60;
  const authorization = `Bearer ${await identity.token("alice", { exp })}`;
  const { port } = new URL(fixture.url);
  const body = JSON.stringify(INPUT);
  const headers = { authorization, "content-length": body.length };
  const answer = new Promise<number | undefined>((resolve) => {
    const asked = httpRequest(
      { port, host: "127.0.0.1", path: "/agents/support", method: "POST", headers },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    asked.write(body.slice(0, 5));
    setTimeout(() => {
      clock.advance(61_000);
      asked.end(body.slice(5));
    }, 100);
  });
  expect(await answer).toBe(401);
  expect(fixture.agentRequests).toHaveLength(0);
});

test("a client that stops a run and starts the next at once is not refused for an open run", async () => {
  fixture = await startFixture(HELD_AGENT);
  for (const [version, Client] of Object.entries(CLIENTS)) {
    const client = new Client({ url: `${fixture.url}/agents/support`, threadId: version });
    for (let turn = 0; turn < 5; turn += 1) {
      client.addMessage({ id: `u${turn}`, role: "user", content: "hi" });
      const held = client.runAgent({ runId: `held-${turn}` }).catch(() => undefined);
      const before = fixture.agentRequests.length;
      await vi.waitFor(() => expect(fixture.agentRequests.length).toBeGreaterThan(before - 1));
      await new Promise((resolve) => setTimeout(resolve, 30));
      client.abortRun();
      const outcome = await client.runAgent({ runId: `next-${turn}` }).then(
        () => "admitted",
        (error: unknown) => /ERR_\w+/.exec(String(error))?.[0] ?? String(error),
      );
      expect([version, turn, outcome]).toEqual([version, turn, "admitted"]);
      await held;
    }
  }
});
