import { createServer } from "node:net";
import type { AddressInfo, Server, Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startFixture } from "../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../testing/fixture.js";

let fixture: Fixture | undefined;
let server: Server | undefined;
const open = new Set<Socket>();
afterEach(async () => {
  await fixture?.stop();
  for (const socket of open) socket.destroy();
  open.clear();
  server?.close();
});

/** A gateway in front of an agent that answers every request with these bytes. */
async function answeredWith(bytes: string, options: FixtureOptions = {}): Promise<Response> {
  server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(bytes));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const target = { url: new URL(`http://127.0.0.1:${port}/`), ...options.target };
  fixture = await startFixture(() => ({ pieces: [] }), { ...options, target });
  return fetch(`${fixture.url}/agents/support`, {
    method: "POST",
    body: JSON.stringify({ threadId: "t", runId: "r", protocolVersion: "1.0", messages: [] }),
  });
}

const typed = (type: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: 0\r\n\r\n`;

test.each([
  "<img src=https://evil.example/?q=1>",
  "call/0800-evil",
  `text/evil${"-and-more".repeat(500)}`,
])(
  "text that an agent writes in place of a content type does not reach the client: %s",
  async (words) => {
    const response = await answeredWith(typed(words));
    const problem = await response.text();
    expect(response.status).toBe(502);
    expect(problem).toContain("ERR_UPSTREAM_NOT_A_STREAM");
    expect(problem).not.toMatch(/evil/u);
  },
);

test("a known content type that explains the failure is reported", async () => {
  const response = await answeredWith(typed("Text/HTML; charset=utf-8"));
  expect(await response.text()).toContain("responded with text/html");
});

test("neither an agent's reason phrase nor its headers reach the client", async () => {
  const response = await answeredWith(
    "HTTP/1.1 503 evil words\r\nSet-Cookie: evil=1\r\nWWW-Authenticate: Basic realm=evil\r\nContent-Length: 4\r\n\r\nevil",
  );
  const headers = [...response.headers].join();
  const told = `${response.statusText} ${headers} ${await response.text()}`;
  expect(response.status).toBe(502);
  expect(told).not.toMatch(/evil/u);
});

test("an agent that switches protocols is a 502, and keeps nothing of its client open", async () => {
  const response = await answeredWith(
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: evil\r\n\r\n",
  );
  expect(response.status).toBe(502);
  expect(await response.json()).toMatchObject({ code: "ERR_UPSTREAM_UNREACHABLE" });
});
