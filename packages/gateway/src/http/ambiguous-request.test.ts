import { connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { createAccess } from "../access/access.js";
import { createKeyAuthenticator, createApiKey } from "../access/api-keys.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { requestUrl } from "./exchange.js";

let fixture: Fixture;
afterEach(() => fixture.stop());

const KEY = createApiKey();
const journal: object[] = [];

async function start(options: FixtureOptions["gateway"] = {}): Promise<void> {
  const note = (facts: object, message: string): void => void journal.push({ ...facts, message });
  journal.length = 0;
  fixture = await startFixture(HELD_AGENT, {
    gateway: { journal: { debug: note, info: note, warn: note, error: note }, ...options },
  });
}
const withKey = (): FixtureOptions["gateway"] => ({
  access: createAccess([createKeyAuthenticator(() => [{ name: "a", hash: KEY.hash }])]),
});

/** The status line of the response to these bytes. */
function send(head: string, body = "", hangUp = false): Promise<string> {
  const { port } = new URL(fixture.url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), "127.0.0.1", () => socket.write(`${head}\r\n\r\n${body}`));
    if (hangUp) setTimeout(() => socket.destroy(), 50);
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      answer += chunk.toString();
      socket.destroy();
    });
    socket.on("close", () => resolve(answer.split("\r\n", 1)[0] ?? ""));
  });
}

test("a path that is not in normal form is rejected, whatever it would resolve to", async () => {
  await start();
  const odd = ["/x/../ag-ui/run", "/x/%2e%2e/ag-ui/run", "/ag-ui\\run", "/ag-ui/run#x", "/./ping"];
  for (const path of odd) expect(requestUrl(path)).toBeUndefined();
  expect(requestUrl("/ag-ui/run?session=a#b")).toBeUndefined();
  for (const path of ["/agents/other\\..\\support", "/agents/other/../support"]) {
    expect(await send(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2`, "{}")).toContain(
      "400",
    );
  }
  expect(requestUrl("/agents/a%20b?x=../y")?.pathname).toBe("/agents/a%20b");
  expect(requestUrl("http://any.example/ping")?.pathname).toBe("/ping");
  expect(fixture.agentRequests).toEqual([]);
});

test("two Host headers are rejected, and so are two credentials", async () => {
  await start(withKey());
  expect(await send("GET /ping HTTP/1.1\r\nHost: a\r\nhost: b")).toContain("400");
  const good = `Authorization: Bearer ${KEY.key}`;
  const ask = (fields: string): Promise<string> =>
    send(`POST /ag-ui/stop HTTP/1.1\r\nHost: a\r\n${fields}\r\nContent-Length: 2`, "{}");
  expect(await ask(good)).toContain("200");
  expect(await ask(`${good}\r\nauthorization: Bearer other`)).toContain("401");
  expect(await ask(`${good}\r\n${good}`)).toContain("401");
});

test("an image, frame or link of a foreign page starts no run; our own page and programs do", async () => {
  await start();
  const { host } = new URL(fixture.url);
  const ask = (session: string, fields: string): Promise<string> =>
    send(`GET /ag-ui/stream?session=${session} HTTP/1.1\r\nHost: ${host}\r\n${fields}`);
  for (const site of ["cross-site", "same-site"]) {
    const mode = "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image";
    expect(await ask(site, `Sec-Fetch-Site: ${site}\r\n${mode}`)).toContain("403");
  }
  expect(fixture.agentRequests).toEqual([]);
  for (const site of ["same-origin", "none"]) {
    expect(await ask(site, `Sec-Fetch-Site: ${site}`)).toContain("200");
  }
  expect(await ask("program", "Accept: text/event-stream")).toContain("200");
});

test.each([
  ["that hangs up", "Content-Length: 100", "{", true],
  ["that frames its body wrong", "Transfer-Encoding: chunked", "2\r\n{}XX0\r\n\r\n", false],
])("a client %s is not logged as a defect of the gateway", async (_name, field, body, hangUp) => {
  await start();
  await send(`POST /ag-ui/run HTTP/1.1\r\nHost: x\r\n${field}`, body, hangUp);
  await expect
    .poll(() => journal)
    .toMatchObject([{ code: "ERR_RUN_STOPPED", message: "refused", receipt: expect.any(String) }]);
});
