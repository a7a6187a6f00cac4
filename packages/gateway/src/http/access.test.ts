import { createFakeClock } from "@countersign/testkit";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { createAccess } from "../access/access.js";
import type { Access } from "../access/access.js";
import { createKeyAuthenticator, createApiKey } from "../access/api-keys.js";
import { runClient } from "../testing/client.js";
import { startFixture } from "../testing/fixture.js";
import type { Fixture, FixtureOptions } from "../testing/fixture.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startIdentity } from "../testing/identity.js";
import type { Identity } from "../testing/identity.js";
import { sseEvents } from "../testing/transports.js";

let identity: Identity;
let fixture: Fixture;
beforeAll(async () => {
  identity = await startIdentity();
});
afterAll(() => identity.stop());
afterEach(() => fixture.stop());

async function start(access: Access, options: FixtureOptions = {}): Promise<void> {
  fixture = await startFixture(HELD_AGENT, {
    ...options,
    gateway: { access, ...options.gateway },
  });
}
const jwtAccess = (): Access => createAccess([identity.authenticator()]);

type Call = {
  token?: string | undefined;
  input?: object;
  query?: string;
  method?: string;
  headers?: Record<string, string>;
};

function call(
  path: string,
  { token, input, query = "", method = "POST", headers = {} }: Call = {},
): Promise<Response> {
  return fetch(`${fixture.url}${path}${query}`, {
    method,
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(input === undefined
      ? {}
      : { body: JSON.stringify({ protocolVersion: "1.0", messages: [], ...input }) }),
  });
}
const codeOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { code?: unknown }).code;

test("without a credential no run, stop or ticket is served, and the response states the requirement", async () => {
  await start(jwtAccess());
  for (const path of [
    "/agents/support",
    "/ag-ui/run",
    "/invocations",
    "/ag-ui/stop",
    "/ag-ui/tickets",
    "/agents/unknown",
  ]) {
    const response = await call(path, { input: { threadId: "t", runId: "r" } });
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toBe('Bearer realm="countersign"');
    expect(response.headers.get("content-type")).toBe("application/problem+json");
    expect(await codeOf(response)).toBe("ERR_ACCESS_MISSING");
  }
  expect((await call("/ag-ui/stream", { method: "GET", query: "?session=s" })).status).toBe(401);
  expect((await call("/healthz", { method: "GET" })).status).toBe(200);
  expect(fixture.agentRequests).toEqual([]);
  expect(fixture.recorder.drafts).toEqual([]);
});

test("the official client authenticates with a header, and its token is not forwarded", async () => {
  await start(jwtAccess());
  const token = await identity.token("alice");
  const run = await runClient(`${fixture.url}/agents/support`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  expect(run.error).toBeUndefined();
  expect(run.messages.at(-1)).toMatchObject({ content: "hello" });
  expect(fixture.agentRequests[0]?.headers.authorization).toBeUndefined();
  expect(JSON.stringify([fixture.agentRequests, fixture.recorder.drafts])).not.toContain(token);
});

test("an agent with forward_authorization receives the client's own credential", async () => {
  await start(jwtAccess(), {
    target: { forwardAuthorization: true, headers: { authorization: "Bearer own" } },
  });
  const token = await identity.token("alice");
  await (await call("/ag-ui/run", { token, input: { threadId: "t", runId: "r" } })).text();
  expect(fixture.agentRequests[0]?.headers.authorization).toBe(`Bearer ${token}`);
});

test("an invalid credential is 401 and a missing scope 403; neither response repeats it", async () => {
  const journal: unknown[] = [];
  const note = (...entry: unknown[]): void => void journal.push(entry);
  await start(createAccess([identity.authenticator({ scopes: ["run"] })]), {
    gateway: { journal: { debug: note, info: note, warn: note, error: note } },
  });
  const expired = await identity.token("alice", { exp: 1 });
  const bad = await call("/ag-ui/run", { token: expired, input: {} });
  expect(bad.status).toBe(401);
  expect(bad.headers.get("www-authenticate")).toBe(
    'Bearer realm="countersign", error="invalid_token"',
  );
  const token = await identity.token("alice", { scope: "read" });
  const narrow = await call("/ag-ui/run", { token, input: {} });
  expect(narrow.status).toBe(403);
  expect(narrow.headers.get("www-authenticate")).toBe(
    'Bearer realm="countersign", error="insufficient_scope", scope="run"',
  );
  const malformed = await call("/ag-ui/run", { headers: { authorization: "Bearer a b" } });
  expect(malformed.status).toBe(401);
  expect(JSON.stringify(journal)).toContain("ERR_ACCESS_TOKEN");
  expect(JSON.stringify(journal)).toContain("ERR_ACCESS_SCOPE");
  const told = [await bad.text(), await narrow.text(), JSON.stringify(journal)].join();
  for (const secret of [expired, token]) expect(told).not.toContain(secret.slice(-20));
});

test("a session, its run and its stream belong to its owner alone", async () => {
  await start(jwtAccess());
  const [alice, bob] = [await identity.token("alice"), await identity.token("bob")];
  const held = await call("/ag-ui/run", {
    token: alice,
    query: "?session=s",
    input: { threadId: "t", runId: "held" },
  });
  const body = held.text();
  const foreign = await call("/ag-ui/run", {
    token: bob,
    query: "?session=s",
    input: { threadId: "t2", runId: "r2" },
  });
  expect(foreign.status).toBe(403);
  expect(await codeOf(foreign)).toBe("ERR_ACCESS_SESSION");
  expect(
    (await call("/ag-ui/stream", { token: bob, query: "?session=s", method: "GET" })).status,
  ).toBe(403);
  expect((await call("/ag-ui/tickets", { token: bob, query: "?session=s" })).status).toBe(403);
  for (const query of ["?session=s", ""]) {
    const stop = await call("/ag-ui/stop", {
      token: bob,
      query,
      input: { threadId: "t", runId: "held" },
    });
    expect(await stop.json()).toEqual({ stopped: [] });
  }
  const stop = await call("/ag-ui/stop", { token: alice, query: "?session=s" });
  expect(await stop.json()).toEqual({ stopped: ["held"] });
  expect(sseEvents(await body).at(-1)).toMatchObject({ code: "RUN_STOPPED" });
});

test("a session that the gateway generated belongs to the client that received it", async () => {
  await start(jwtAccess());
  const response = await call("/ag-ui/run", {
    token: await identity.token("alice"),
    input: { threadId: "t", runId: "r" },
  });
  const session = response.headers.get("x-amzn-bedrock-agentcore-runtime-session-id") ?? "";
  await response.text();
  const foreign = await call("/ag-ui/run", {
    token: await identity.token("bob"),
    query: `?session=${session}`,
    input: { threadId: "t", runId: "r2" },
  });
  expect(foreign.status).toBe(403);
});

test("an expired token ends the stream it opened, and the agent's connection with it", async () => {
  const clock = createFakeClock(Date.now());
  await start(createAccess([identity.authenticator({ clock })]));
  const token = await identity.token("alice", { exp: Math.floor(Date.now() / 1000) + 60 });
  const response = await call("/ag-ui/run", { token, input: { threadId: "t", runId: "held" } });
  const body = response.text();
  clock.advance(61_000);
  expect(sseEvents(await body).at(-1)).toMatchObject({ type: "RUN_ERROR", code: "ACCESS_EXPIRED" });
  await vi.waitFor(() => expect(fixture.agentRequests[0]?.signal.aborted).toBe(true));
  expect((await call("/ag-ui/run", { token, input: {} })).status).toBe(401);
});

test("a revoked API key ends what it opened; another key continues", async () => {
  const [one, two] = [createApiKey(), createApiKey()];
  let entries = [
    { name: "one", hash: one.hash },
    { name: "two", hash: two.hash },
  ];
  await start(createAccess([createKeyAuthenticator(() => entries)]));
  const first = (
    await call("/ag-ui/run", { token: one.key, input: { threadId: "t", runId: "held-1" } })
  ).text();
  const second = (
    await call("/ag-ui/run", { token: two.key, input: { threadId: "t2", runId: "held-2" } })
  ).text();
  entries = entries.filter(({ name }) => name === "two");
  expect(sseEvents(await first).at(-1)).toMatchObject({ code: "ACCESS_EXPIRED" });
  await call("/ag-ui/stop", { token: two.key, input: { threadId: "t2", runId: "held-2" } });
  expect(sseEvents(await second).at(-1)).toMatchObject({ code: "RUN_STOPPED" });
});

test("runs of a principal: at the limit, one above, and again after one ended", async () => {
  await start(jwtAccess(), { gateway: { listenLimits: { runsPerPrincipal: 2 } } });
  const token = await identity.token("alice");
  const open = (runId: string): Promise<Response> =>
    call("/ag-ui/run", { token, input: { threadId: runId, runId } });
  const held = [await open("held-1"), await open("held-2")];
  const over = await open("held-3");
  expect(over.status).toBe(429);
  expect(await codeOf(over)).toBe("ERR_ACCESS_RUNS");
  const other = await call("/ag-ui/run", {
    token: await identity.token("bob"),
    input: { threadId: "b", runId: "b" },
  });
  expect(other.status).toBe(200);
  await other.text();
  await call("/ag-ui/stop", { token, input: { threadId: "held-1", runId: "held-1" } });
  await held[0]?.text();
  await vi.waitFor(async () => expect((await open(`held-4-${Math.random()}`)).status).toBe(200));
});

test("a ticket opens one stream of its own session and agent, and nothing twice", async () => {
  await start(jwtAccess());
  const token = await identity.token("alice");
  const issued = await call("/ag-ui/tickets", { token, query: "?session=s" });
  expect(issued.status).toBe(201);
  expect(issued.headers.get("cache-control")).toBe("no-store");
  const { ticket, url, agent } = (await issued.json()) as {
    ticket: string;
    url: string;
    agent: string;
  };
  expect(agent).toBe("support");
  const stream = await call(url, { method: "GET" });
  expect(await stream.text()).toContain("RUN_FINISHED");
  const replayed = await call(url, { method: "GET" });
  expect(replayed.status).toBe(401);
  expect(await replayed.text()).not.toContain(ticket);
  const second = (await (await call("/ag-ui/tickets", { token, query: "?session=s" })).json()) as {
    ticket: string;
  };
  expect(
    (
      await call("/ag-ui/stream", {
        method: "GET",
        query: `?session=other&ticket=${second.ticket}`,
      })
    ).status,
  ).toBe(401);
  // A ticket is not accepted as a credential for any other request.
  expect((await call("/ag-ui/run", { query: `?ticket=${second.ticket}`, input: {} })).status).toBe(
    401,
  );
  expect((await call("/ag-ui/run", { token: second.ticket, input: {} })).status).toBe(401);
});

test("a stream opened by ticket ends when its token expires", async () => {
  const clock = createFakeClock(Date.now());
  await start(createAccess([identity.authenticator({ clock })]));
  const token = await identity.token("alice", { exp: Math.floor(Date.now() / 1000) + 60 });
  const { url } = (await (
    await call("/ag-ui/tickets", { token, query: "?session=held" })
  ).json()) as { url: string };
  const stream = await call(url, { method: "GET", query: "&run=held" });
  const body = stream.text();
  clock.advance(61_000);
  expect(sseEvents(await body).at(-1)).toMatchObject({ code: "ACCESS_EXPIRED" });
});

test("an unreachable issuer means 503, not access", async () => {
  const down = await startIdentity();
  const token = await down.token("alice");
  await start(createAccess([down.authenticator()]));
  await down.stop();
  const response = await call("/ag-ui/run", { token, input: {} });
  expect(response.status).toBe(503);
  expect(await codeOf(response)).toBe("ERR_ACCESS_KEYS");
});
