import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "@countersign/core";
import type { ControlRun, ControlSession, FeedItem } from "@countersign/core";
import type { LogEntry } from "@countersign/receipts";
import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { createOperatorToken } from "../access/operators.js";
import { idsOf, inRun, call } from "../testing/events.js";
import { bearer, KEYS } from "../testing/key-holders.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";

const POLICY = `
hushspec: "0.1.0"
rules:
  ag_ui: { allow_display_without_capability: true, restricted_classifications: [submit] }
  ag_ui_classify:
    state: [{ match: /payment/**, classification: submit }]
  ag_ui_tools: { call: { block: [send_mail, 'bad"<script>%'], default: allow } }
`;
const HASHES = Object.entries(KEYS).map(([name, key]) => `${name}: "sha256:${sha256Hex(key)}"`);
const ACCESS = `access: { mode: keys, keys: { entries: { ${HASHES.join(", ")} } } }\n`;
const HOSTILE = 'bad"<script>%';

let served: Served;
afterEach(() => served.stop());

async function start(config = "", control = ""): Promise<void> {
  served = await startServed(
    ({ body }) => ({
      pieces: inRun(idsOf(body), [
        ...call("c1", "send_mail", '{"to":"secret@example.com"}'),
        ...call("c2", HOSTILE, "{}"),
        {
          type: "STATE_DELTA",
          delta: [{ op: "add", path: "/payment", value: { iban: "secret-iban" } }],
        },
      ]).map(sseFrame),
    }),
    { policy: POLICY, config: `${ACCESS}${config}`, control },
  );
}

function ask(headers: Record<string, string>, threadId = "t1"): Promise<Response> {
  return fetch(`${served.running.dataUrl}/agents/support?session=s1&ticket=secret-ticket`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ threadId, runId: "r1", messages: [] }),
  });
}

async function entriesOf(query: string): Promise<LogEntry[]> {
  const response = await served.control(`/v1/receipts?order=oldest&${query}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { entries: LogEntry[] }).entries;
}

const lineOf = (message: string): Readonly<Record<string, unknown>> =>
  served.lines.find((line) => line["msg"] === message) ?? {};

async function feedItems(): Promise<FeedItem[]> {
  const response = await served.control("/v1/events");
  const { value } = (await response.body?.getReader().read()) ?? {};
  return Buffer.from(value ?? [])
    .toString("utf8")
    .split("\n")
    .flatMap((line) => (line.startsWith("data:") ? [JSON.parse(line.slice(5)) as FeedItem] : []));
}

test("receipts, lists, feed and log lines say who and what, and nothing of a value", async () => {
  await start();
  expect(await (await ask(bearer("bob"))).text()).not.toContain("127.0.0.1");
  const who = { principal: "key:bob", client_address: "127.0.0.1" };
  const all = await entriesOf("principal=key:bob");
  expect(all.length).toBeGreaterThan(5);
  expect(all.every((entry) => entry.client_address === "127.0.0.1")).toBe(true);
  expect(JSON.stringify(all)).not.toMatch(/secret/u);
  expect(await entriesOf("principal=key:alice")).toEqual([]);
  const [blocked] = await entriesOf("tool=send_mail&allowed=false");
  expect(blocked).toMatchObject({ ...who, tool: "send_mail", rule: "ag_ui_tools.call" });
  const [state] = await entriesOf("path=/payment");
  expect(state).toMatchObject({ ...who, path: "/payment", rule: "ag_ui.capability" });
  const [odd] = await entriesOf(`q=${encodeURIComponent('AD"<SCRIPT>%')}&allowed=false`);
  expect(odd?.tool).toBe(HOSTILE);

  const items = await feedItems();
  expect(items.find((item) => item.path === "/payment")).toMatchObject(who);
  expect(items.filter((item) => item.tool === "send_mail").length).toBeGreaterThan(0);
  // The live feed uses the words of the log.
  for (const item of items) {
    const [entry] = await entriesOf(`id=${encodeURIComponent(item.receipt_id)}`);
    expect(
      (await entriesOf(`event_type=${encodeURIComponent(item.event_type)}`)).map((one) => one.seq),
    ).toContain(entry?.seq);
    expect([item.rule, item.tool, item.path, item.principal]).toEqual([
      entry?.rule,
      entry?.tool,
      entry?.path,
      entry?.principal,
    ]);
  }
  const { sessions } = (await (await served.control("/v1/sessions")).json()) as {
    sessions: ControlSession[];
  };
  const { runs } = (await (await served.control("/v1/runs")).json()) as { runs: ControlRun[] };
  expect(sessions[0]).toMatchObject(who);
  expect(runs[0]).toMatchObject(who);
  expect(lineOf("run ended")).toMatchObject({
    ...who,
    session: "s1",
    thread: "t1",
    run: "r1",
    agent: "support",
  });
});

test("a refusal names its client in the log and not in the response", async () => {
  await start();
  const stranger = await ask({});
  const problem = await stranger.text();
  expect(stranger.status).toBe(401);
  expect(problem).not.toMatch(/127\.0\.0\.1|agents/u);
  expect(lineOf("refused")).toMatchObject({
    code: "ERR_ACCESS_MISSING",
    client_address: "127.0.0.1",
    path: "/agents/support",
  });
  expect(JSON.stringify(served.lines)).not.toContain("secret-ticket");

  expect((await ask({ authorization: "Bearer nobody" })).status).toBe(401);
  const wrong = served.lines.filter((line) => line["code"] === "ERR_ACCESS_TOKEN");
  expect(wrong).toHaveLength(1);
  expect(wrong[0]).toMatchObject({ reason: "unknown", path: "/agents/support" });

  await (await ask(bearer("bob"))).text();
  const foreign = await fetch(`${served.running.dataUrl}/agents/support`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer("bob") },
    body: JSON.stringify({ threadId: 5 }),
  });
  expect(await foreign.text()).not.toContain("key:bob");
  expect(served.lines.findLast((line) => line["msg"] === "refused")).toMatchObject({
    principal: "key:bob",
    client_address: "127.0.0.1",
  });
  const [unread] = await entriesOf("rule=gateway/invalid");
  expect(unread).toMatchObject({ principal: "key:bob", client_address: "127.0.0.1" });

  const socket = new WebSocket(`${served.running.dataUrl.replace("http", "ws")}/ws?session=s2`, {
    headers: { authorization: "Bearer nobody" },
  });
  await new Promise((resolve) => socket.once("error", resolve));
  expect(served.lines.findLast((line) => line["msg"] === "refused")).toMatchObject({
    client_address: "127.0.0.1",
    path: "/ws",
  });
});

test("the address behind a trusted proxy counts, and a header of anybody else does not", async () => {
  await start("limits: { trusted_proxies: [] }\n");
  await ask({ "x-forwarded-for": "203.0.113.9" });
  expect(lineOf("refused")["client_address"]).toBe("127.0.0.1");
  await served.stop();
  await start('limits: { trusted_proxies: ["127.0.0.0/8"] }\n');
  await (await ask({ ...bearer("bob"), "x-forwarded-for": "6.6.6.6, 203.0.113.9" })).text();
  expect((await entriesOf("client_address=203.0.113.9")).length).toBeGreaterThan(5);
  expect(lineOf("run ended")["client_address"]).toBe("203.0.113.9");
});

test("hashed principals and addresses are found by their names, with a key that only the owner reads", async () => {
  await start("receipts: { principal: hashed, client_address: hashed }\n");
  await (await ask(bearer("bob"))).text();
  const found = await entriesOf("principal=key:bob&client_address=127.0.0.1");
  expect(found.length).toBeGreaterThan(5);
  expect(found[0]?.principal).toMatch(/^hmac:[0-9a-f]{32}$/u);
  expect(found[0]?.client_address).toMatch(/^hmac:[0-9a-f]{32}$/u);
  expect(await entriesOf("principal=key:alice")).toEqual([]);
  expect(JSON.stringify([lineOf("run ended"), await feedItems()])).not.toMatch(
    /key:bob|127\.0\.0\.1/u,
  );
  const file = join(served.folder, ".countersign", "keys", "identity.key");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, "utf8").trim()).toHaveLength(43);
});

test("without identity no entry, list or line has one", async () => {
  await start("receipts: { principal: none, client_address: none }\n");
  await (await ask(bearer("bob"))).text();
  const all = await entriesOf("session_id=s1");
  expect(all.length).toBeGreaterThan(5);
  expect(JSON.stringify([all, lineOf("run ended")])).not.toMatch(/key:bob|127\.0\.0\.1/u);
});

test.each([
  ["plain", "key:bob"],
  ["hashed", "hmac:"],
  ["none", undefined],
])(
  "with %s principals a viewer sees owners as %s, and an operator their names",
  async (form, seen) => {
    const [viewer, operator] = [createOperatorToken(), createOperatorToken()];
    await start(
      `receipts: { principal: ${form} }\n`,
      `operators:\n  - { name: v, role: viewer, token: "${viewer.hash}" }\n  - { name: o, role: operator, token: "${operator.hash}" }\n`,
    );
    await (await ask(bearer("bob"))).text();
    const scopes = ["ui:alert:toast"];
    const body = JSON.stringify({ agent: "support", session_id: "s1", scopes });
    expect((await served.control("/v1/capabilities", { method: "POST", body })).status).toBe(201);
    const namesFor = async (token: string): Promise<unknown[]> => {
      const headers = { authorization: `Bearer ${token}` };
      const session = await (await served.control("/v1/sessions/s1", { headers })).json();
      const list = await (await served.control("/v1/capabilities", { headers })).json();
      const [issued] = (list as { items: { principal?: string }[] }).items;
      const { owner } = session as { owner?: string };
      return [owner, issued?.principal].map((name) =>
        name?.replace(/^hmac:[0-9a-f]{32}$/u, "hmac:"),
      );
    };
    expect(await namesFor(operator.key)).toEqual(["key:bob", "key:bob"]);
    expect(await namesFor(viewer.key)).toEqual([seen, seen]);
  },
);
