import { CountersignError } from "@countersign/core";
import { Hono } from "hono";
import { expect, test } from "vitest";
import type { OpenTokens } from "./ports.js";
import type { Sessions } from "../sessions/sessions.js";
import { CapabilityRecords } from "../access/capability-records.js";
import { createTicketSeal } from "../access/ticket-seal.js";
import { createMemoryStore } from "../store/memory-store.js";
import type { ControlEnv } from "./control-env.js";
import { addCapabilityRoutes } from "./capability-routes.js";
const CLOCK = { now: () => 0 };

function routes(logIsDown = false, owner: string | undefined = "key:alice") {
  const acts: object[] = [];
  const handed: string[] = [];
  const issued: unknown[] = [];
  const revoked: string[] = [];
  const tokens = {
    issue: async (request: unknown) => {
      issued.push(request);
      return { token: "token", claims: { jti: "cap_1", exp: 1 } };
    },
    revoke: async (id: string) => void revoked.push(id),
    records: new CapabilityRecords(createMemoryStore(CLOCK), createTicketSeal(), CLOCK),
  } as unknown as OpenTokens;
  const sessions = { addToken: (id: string) => void handed.push(id) } as unknown as Sessions;
  const app = new Hono<ControlEnv>();
  app.onError((error, context) => context.text(error.message, 400));
  const all = { sessions, fleet: undefined };
  const note = async (act: object): Promise<string> => {
    if (logIsDown) throw new CountersignError("ERR_LOG_CLOSED", "the log is closed", {});
    acts.push(act);
    return "agui-1";
  };
  const agents = { names: ["support", "sales"] };
  const recording = { operator: "alice", record: note, note, recordStopped: async () => true };
  addCapabilityRoutes(app, tokens, {
    ...all,
    agents,
    clock: { now: () => 0 } as never,
    actsOf: () => recording,
    ownerOf: async () => owner,
    shown: (_context, principal) => principal,
  });
  return { app, issued, revoked, acts, handed };
}

const asked = { agent: "support", scopes: ["ui:alert:toast"] };

test("an unknown field signs nothing, so a mistyped session_id never opens every session", async () => {
  const { app, issued } = routes();
  const body = JSON.stringify({ ...asked, session: "s1" });
  const answer = await app.request("/v1/capabilities", { method: "POST", body });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toMatch(/^session must be left out: .*session_id/u);
  expect(issued).toEqual([]);
});

test("a token for one session is issued for that session and the principal that owns it", async () => {
  const { app, issued } = routes();
  const body = JSON.stringify({ ...asked, session_id: "s1", expires_in: 5 });
  const answer = await app.request("/v1/capabilities", { method: "POST", body });
  expect(answer.status).toBe(201);
  const named = { sessionId: "s1", principal: "key:alice" };
  expect(issued).toEqual([{ ...asked, ...named, notBefore: 0, expiresAt: 5 }]);
  expect(await answer.json()).toMatchObject({
    principal: "key:alice",
    session_owner: "key:alice",
  });
});

test("issuing, presenting and revoking a capability is logged; without a receipt no token is issued", async () => {
  const { app, acts } = routes();
  const post = (on: Hono<ControlEnv>, path: string, body: object): Response | Promise<Response> =>
    on.request(path, { method: "POST", body: JSON.stringify(body) });
  await post(app, "/v1/capabilities", { ...asked, session_id: "s1" });
  await post(app, "/v1/capabilities", { ...asked, allow_unowned_session: true });
  await post(app, "/v1/capabilities/revoke", { id: "cap_1" });
  const issue = { act: "capability-issue", capability: "cap_1", agent: "support" };
  expect(acts).toEqual([
    { ...issue, session: "s1", principal: "key:alice" },
    issue,
    { act: "capability-revoke", capability: "cap_1" },
  ]);
  const down = routes(true);
  const answer = await post(down.app, "/v1/capabilities", { ...asked, session_id: "s1" });
  expect([answer.status, await answer.text()]).toEqual([400, "the log is closed"]);
  expect(down.handed).toEqual([]);
});

test("a session gets no token for an agent that is not configured here; it is issued for use elsewhere", async () => {
  const { app, issued } = routes();
  const ask = (more: object) =>
    app.request("/v1/capabilities", {
      method: "POST",
      body: JSON.stringify({ ...asked, agent: "suport", session_id: "s1", ...more }),
    });
  const refused = await ask({});
  expect(refused.status).toBe(400);
  expect(await refused.text()).toBe("agent must be one of support, sales, unless attach is false");
  expect(issued).toEqual([]);
  expect((await ask({ attach: false })).status).toBe(201);
});

const ISSUE = "/v1/capabilities";
const REVOKE = "/v1/capabilities/revoke";
const PRESENT = "/v1/sessions/s1/capabilities";

test.each<[string, string, object]>([
  ["attach", ISSUE, { ...asked, session_id: "s1", attach: "no" }],
  ["attach", ISSUE, { ...asked, attach: null }],
  ["agent", ISSUE, { ...asked, agent: "a".repeat(257) }],
  ["agent", ISSUE, { scopes: [] }],
  ["session_id", ISSUE, { ...asked, session_id: "s".repeat(257) }],
  ["session_id", ISSUE, { ...asked, session_id: "" }],
  ["principal", ISSUE, { ...asked, session_id: "s1", principal: "anonymous" }],
  ["principal", ISSUE, { ...asked, principal: "p".repeat(2049) }],
  ["allow_unowned_session", ISSUE, { ...asked, allow_unowned_session: "yes" }],
  ["allow_unowned_session", PRESENT, { token: "x", allow_unowned_session: 1 }],
  ["scopes", ISSUE, { ...asked, scopes: Array<string>(257).fill("ui:*:*") }],
  ["scopes", ISSUE, { ...asked, scopes: ["x".repeat(257)] }],
  ["scopes", ISSUE, { ...asked, scopes: [7] }],
  ["scopes", ISSUE, { ...asked, scopes: "ui:*:*" }],
  ["expires_in", ISSUE, { ...asked, expires_in: 31_536_001 }],
  ["expires_in", ISSUE, { ...asked, expires_in: "600" }],
  ["max_events", ISSUE, { ...asked, max_events: 1_000_000_001 }],
  ["max_events", ISSUE, { ...asked, max_events: 0 }],
  ["max_events", ISSUE, { ...asked, max_events: null }],
  ["because", REVOKE, { id: "cap_1", because: "x" }],
  ["id", REVOKE, { id: "c".repeat(1025) }],
  ["id", REVOKE, { id: ["cap_1"] }],
  ["session", PRESENT, { token: "x", session: "s2" }],
  ["token", PRESENT, { token: "x".repeat(65_537) }],
  ["body", REVOKE, []],
])("%s of the wrong kind or size is refused by its name (%s)", async (field, path, value) => {
  const { app, issued, revoked } = routes();
  const answer = await app.request(path, { method: "POST", body: JSON.stringify(value) });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toMatch(new RegExp(`^${field} must be `, "u"));
  expect([...issued, ...revoked]).toEqual([]);
});

test("every field is accepted at its limit", async () => {
  const { app, issued, revoked } = routes();
  const grant = {
    agent: "a".repeat(256),
    session_id: "s".repeat(256),
    scopes: Array<string>(256).fill("x".repeat(256)),
    expires_in: 31_536_000,
    max_events: 1_000_000_000,
    attach: false,
  };
  const post = (path: string, value: object) =>
    app.request(path, { method: "POST", body: JSON.stringify(value) });
  expect((await post(ISSUE, grant)).status).toBe(201);
  expect(issued).toMatchObject([{ maxEvents: 1_000_000_000, expiresAt: 31_536_000 }]);
  expect((await post(REVOKE, { id: "c".repeat(1024) })).status).toBe(200);
  expect(revoked).toEqual(["c".repeat(1024)]);
});

test("the name of an unknown field is returned truncated", async () => {
  const { app } = routes();
  const body = JSON.stringify({ id: "cap_1", ["x".repeat(100_000)]: 1 });
  const answer = await app.request(REVOKE, { method: "POST", body });
  expect((await answer.text()).length).toBeLessThan(200);
});
