import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { startFixture } from "../testing/fixture.js";
import type { Fixture } from "../testing/fixture.js";
import { isAllowedOrigin } from "./origin.js";
import { requestUrl } from "./exchange.js";

let fixture: Fixture | undefined;
afterEach(async () => {
  await fixture?.stop();
  fixture = undefined;
});

/** Sends raw bytes and waits until the server has handled them. */
function sendRaw(url: string, text: string, reset = false): Promise<string> {
  const { port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), "127.0.0.1", () => {
      socket.write(text);
      if (reset) setTimeout(() => socket.resetAndDestroy(), 20);
    });
    socket.on("data", (chunk) => {
      answer += chunk.toString();
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(answer));
  });
}

const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;

test("an upgrade with an invalid URL is refused, and the gateway keeps running", async () => {
  fixture = await startFixture(() => ({ pieces: [] }));
  expect(await sendRaw(fixture.url, upgrade("//[::"))).toMatch(/^HTTP\/1\.1 404/);
  for (let times = 0; times < 5; times++) await sendRaw(fixture.url, upgrade("/nope"), true);
  expect((await fetch(`${fixture.url}/healthz`)).status).toBe(200);
});

test("a page of a foreign origin starts and stops nothing", async () => {
  fixture = await startFixture(() => ({ pieces: [] }));
  for (const path of ["/ag-ui/run", "/ag-ui/stop", "/agents/support"]) {
    const answer = await fetch(`${fixture.url}${path}`, {
      method: "POST",
      headers: { origin: "https://evil.example", "content-type": "text/plain" },
      body: "{}",
    });
    expect(answer.status).toBe(403);
  }
  expect(fixture.agentRequests).toEqual([]);
});

test("a host name that resolves to this machine is not a loopback origin", () => {
  const listed = new Set(["https://app.example"]);
  expect(isAllowedOrigin("http://evil.example:8080", "evil.example:8080", listed)).toBe(false);
  expect(isAllowedOrigin("http://127.0.0.1:8080", "127.0.0.1:8080", listed)).toBe(true);
  expect(isAllowedOrigin("https://app.example", "gateway.example", listed)).toBe(true);
  expect(isAllowedOrigin(undefined, "gateway.example", listed)).toBe(true);
  expect(isAllowedOrigin("null", "127.0.0.1", listed)).toBe(false);
});

test("only the path of an absolute request target is used", () => {
  expect(requestUrl("//evil.example/agents/a")?.pathname).toBe("//evil.example/agents/a");
  expect(requestUrl("http://evil.example/ping?x=1")?.href).toBe("http://gateway.invalid/ping?x=1");
  expect(requestUrl("http://[::")).toBeUndefined();
});
