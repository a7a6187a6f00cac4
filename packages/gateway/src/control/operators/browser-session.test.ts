import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOperatorToken, openOperators } from "../../access/operators.js";
import { SILENT_JOURNAL } from "../../base/ports.js";
import { Feed } from "../../telemetry/feed.js";
import { createFeedStream } from "../feed-stream.js";
import { Browser } from "../../testing/browser.js";
import { startServed } from "../../testing/served.js";
import type { Served } from "../../testing/served.js";
import { OperatorSessions } from "./operator-sessions.js";
import type { Credential } from "./operator-sessions.js";

const COOKIE = "countersign-session";
const ann = createOperatorToken();
let served: Served;
let url: string;
beforeAll(async () => {
  served = await startServed(() => ({ pieces: [] }), {
    control: `operators:\n  - { name: ann, role: admin, token: "${ann.hash}" }\n`,
  });
  url = served.running.controlUrl;
});
afterAll(() => served.stop());

async function login(headers: Record<string, string> = {}) {
  const browser = new Browser();
  const body = JSON.stringify({ token: ann.key });
  const response = await browser.fetch(`${url}/v1/login`, { method: "POST", body, headers });
  const { csrf = "", ...me } = (await response.json()) as { csrf?: string };
  return { browser, response, csrf, me };
}

test("a token opens a session whose cookie no script can read and no other site can send", async () => {
  const { browser, response, csrf, me } = await login();
  expect(response.headers.get("set-cookie")).toMatch(
    /^countersign-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/u,
  );
  expect(me).toEqual({ operator: "ann", role: "admin", method: "token" });
  expect(await (await browser.fetch(`${url}/v1/me`)).json()).toEqual({ ...me, csrf });
});

test("a change needs the CSRF token of its own session, and a page of this origin", async () => {
  const { browser, csrf } = await login();
  const other = await login();
  const reload = async (headers: Record<string, string>): Promise<unknown> => {
    const response = await browser.fetch(`${url}/v1/policy/reload`, { method: "POST", headers });
    const { code } = (await response.json()) as { code?: string };
    return code ?? response.status;
  };
  const header = "x-countersign-csrf";
  expect(await reload({})).toBe("ERR_CONTROL_CSRF");
  expect(await reload({ [header]: "" })).toBe("ERR_CONTROL_CSRF");
  expect(await reload({ [header]: other.csrf })).toBe("ERR_CONTROL_CSRF");
  expect(await reload({ [header]: csrf })).toBe(200);
  expect(await reload({ [header]: csrf, origin: url })).toBe(200);
  for (const origin of [
    "https://evil.example",
    "null",
    `${url}.evil.example`,
    "http://127.0.0.1:1",
  ])
    expect([origin, await reload({ [header]: csrf, origin })]).toEqual([
      origin,
      "ERR_CONTROL_ORIGIN",
    ]);
});

test("a page of another origin cannot use the session even to read", async () => {
  const { browser } = await login();
  const status = async (site: string): Promise<number> =>
    (await browser.fetch(`${url}/v1/status`, { headers: { "sec-fetch-site": site } })).status;
  expect(await status("same-origin")).toBe(200);
  expect(await status("none")).toBe(200);
  expect(await status("same-site")).toBe(403);
  expect(await status("cross-site")).toBe(403);
});

test("a page of another origin cannot log a browser in", async () => {
  const { response } = await login({ origin: "https://evil.example" });
  expect(response.status).toBe(403);
  expect(response.headers.get("set-cookie")).toBeNull();
});

test("a bearer token needs no CSRF token, and a wrong one is not replaced by the cookie", async () => {
  const { browser } = await login();
  const reload = async (authorization: string): Promise<number> =>
    (await browser.fetch(`${url}/v1/policy/reload`, { method: "POST", headers: { authorization } }))
      .status;
  expect(await reload(`Bearer ${ann.key}`)).toBe(200);
  expect(await reload("Bearer wrong")).toBe(401);
  expect(await reload("Basic YTpi")).toBe(401);
});

test("a logout ends the session", async () => {
  const { browser, csrf } = await login();
  const cookie = browser.cookie(url, COOKIE);
  const headers = { "x-countersign-csrf": csrf };
  expect((await browser.fetch(`${url}/v1/logout`, { method: "POST" })).status).toBe(403);
  expect((await browser.fetch(`${url}/v1/logout`, { method: "POST", headers })).status).toBe(204);
  expect(browser.cookie(url, COOKIE)).toBeUndefined();
  const old = await fetch(`${url}/v1/me`, { headers: { cookie: `${COOKIE}=${cookie}` } });
  expect(old.status).toBe(401);
});

test("a login leaves no earlier session of the browser behind", async () => {
  const { browser } = await login();
  const before = browser.cookie(url, COOKIE);
  await browser.fetch(`${url}/v1/login`, {
    method: "POST",
    body: JSON.stringify({ token: ann.key }),
  });
  expect(browser.cookie(url, COOKIE)).not.toBe(before);
  const old = await fetch(`${url}/v1/me`, { headers: { cookie: `${COOKIE}=${before}` } });
  expect(old.status).toBe(401);
});

test("refused and accepted logins are lines with the address of the client", async () => {
  const body = JSON.stringify({ token: "wrong" });
  const headers = { "x-forwarded-for": "203.0.113.9" };
  await fetch(`${url}/v1/login`, { method: "POST", body, headers });
  expect(served.lines.findLast((line) => line["login"] === true)).toMatchObject({
    code: "UNAUTHORIZED",
    address: "203.0.113.9",
    method: "token",
  });
  await login(headers);
  expect(served.lines.at(-1)).toMatchObject({ operator: "ann", address: "203.0.113.9" });
  expect(JSON.stringify(served.lines)).not.toContain(ann.key);
});

test("an open feed ends with the credential of its operator", async () => {
  let isValid = true;
  const reader = createFeedStream(new Feed(), 1, () => isValid).getReader();
  expect((await reader.read()).done).toBe(false);
  isValid = false;
  expect((await reader.read()).done).toBe(true);
});

const HOUR = 3_600_000;
const credential: Credential = { name: "ann", method: "token", role: () => "admin" };

test("a session ends after its idle time and after its longest time, whatever happens", () => {
  let now = 0;
  const sessions = new OperatorSessions({ now: () => now }, { idleMs: HOUR, longestMs: 3 * HOUR });
  const idle = sessions.open(credential);
  now = HOUR - 1;
  expect(sessions.find(idle.id)).toBeDefined();
  now += HOUR;
  expect(sessions.find(idle.id)).toBeUndefined();
  now = 0;
  const busy = sessions.open(credential);
  for (now = HOUR / 2; now < 3 * HOUR; now += HOUR / 2)
    expect(sessions.find(busy.id)).toBeDefined();
  expect(sessions.find(busy.id)).toBeUndefined();
});

test("sessions are bounded: the one that was used least recently ends", () => {
  const sessions = new OperatorSessions({ now: () => 0 }, { idleMs: 1, longestMs: 1 }, 2);
  const [first, second] = [sessions.open(credential), sessions.open(credential)];
  sessions.find(first.id);
  sessions.open(credential);
  expect(sessions.find(first.id)).toBeDefined();
  expect(sessions.find(second.id)).toBeUndefined();
  expect(sessions.isOpen(second.session)).toBe(false);
});

test("the session of an operator whose token is replaced or removed ends; another role applies at once", () => {
  let now = 0;
  const clock = { now: () => now };
  const file = join(served.folder, "operators.txt");
  const [old, fresh] = [createOperatorToken(), createOperatorToken()];
  writeFileSync(file, `# people\nbob operator ${old.hash}\n`);
  const list = openOperators([], file, { clock, journal: SILENT_JOURNAL });
  const entry = list.find(old.key);
  expect(entry).toMatchObject({ name: "bob", role: "operator" });
  if (entry === undefined) throw new TypeError("bob is missing");
  writeFileSync(file, `bob viewer ${old.hash}\n`);
  now += 2000;
  expect(list.roleOf(entry)).toBe("viewer");
  writeFileSync(file, `bob operator ${fresh.hash}\n`);
  now += 2000;
  expect(list.roleOf(entry)).toBeUndefined();
  expect(list.find(old.key)).toBeUndefined();
  expect(list.find(fresh.key)).toMatchObject({ name: "bob" });
  writeFileSync(file, "");
  now += 2000;
  expect(list.find(fresh.key)).toBeUndefined();
});
