import { readFileSync } from "node:fs";
import { sseFrame, startRedis, startRedisCluster } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { idsOf } from "../testing/events.js";
import { OPEN_POLICY } from "../testing/fixture.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { aroundEachTest } from "../testing/shared-database.js";
import { sseEvents } from "../testing/transports.js";

const shared = aroundEachTest();
const stopped: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const served of shared.open.splice(0)) await served.stop();
  for (const one of stopped.splice(0)) await one.stop();
});

const POLICY = `${OPEN_POLICY}  velocity:
    - { id: few, match: { event_type: custom }, max_invocations: 20, window_seconds: 60 }
`;

async function start(cluster: object, beside?: Served): Promise<Served> {
  const served = await startServed(
    ({ body }) => {
      const ids = idsOf(body);
      const notes = Array.from({ length: 15 }, (_, value) => ({
        type: "CUSTOM",
        name: "note",
        value,
      }));
      const events = [{ type: "RUN_STARTED", ...ids }, ...notes, { type: "RUN_FINISHED", ...ids }];
      return { pieces: [events.map(sseFrame).join("")] };
    },
    {
      policy: POLICY,
      config: `receipts: { store: "${shared.database.url}" }\ncluster: ${JSON.stringify(cluster)}\n`,
      ...(beside === undefined ? {} : { beside }),
    },
  );
  shared.open.push(served);
  return served;
}

async function notes(served: Served, runId: string): Promise<number> {
  const answer = await fetch(`${served.running.dataUrl}/agents/support?session=s1`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ protocolVersion: "1.0", threadId: runId, runId, messages: [] }),
  });
  return sseEvents(await answer.text()).filter(({ type }) => type === "CUSTOM").length;
}

/** Fetches a whole run at one gateway, and again from its third event on at another. */
async function resumesElsewhere(served: Served, other: Served, runId: string): Promise<void> {
  const request = { protocolVersion: "1.0", threadId: runId, runId, messages: [] };
  const ask = (at: Served, headers: Record<string, string>): Promise<Response> =>
    fetch(`${at.running.dataUrl}/agents/support?session=s2&reconnect=1`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(request),
    });
  const whole = await (await ask(served, {})).text();
  const [, key = ""] = /^id: (\S+)\.0$/mu.exec(whole) ?? [];
  const rest = await ask(other, { "last-event-id": `${key}.3` });
  expect(rest.status).toBe(200);
  expect(sseEvents(await rest.text())).toEqual(sseEvents(whole).slice(3));
}

/** The user as the how-to writes it into redis.conf. */
function documentedUser() {
  const page = readFileSync(new URL("../../../../docs/how-to/redis.md", import.meta.url), "utf8");
  const [, rules = ""] = /^user countersign on >SECRET (.+)$/mu.exec(page) ?? [];
  expect(rules).toContain("-@all");
  return { name: "countersign", password: "secret", rules };
}

test.each(["server", "cluster"])(
  "on a %s, gateways share caps and streams and hear signals with the rights in the how-to, and use no other command",
  async (kind) => {
    const user = documentedUser();
    const one = kind === "server" ? await startRedis({ user }) : undefined;
    const cluster = one === undefined ? await startRedisCluster({ user }) : undefined;
    for (const started of [one, cluster]) if (started !== undefined) stopped.push(started);
    const block = { redis: one?.url ?? cluster?.url, kind };
    const first = await start(block);
    const second = await start(block, first);
    expect(await notes(first, "r1")).toBe(15);
    expect(await notes(second, "r2")).toBe(5);
    await resumesElsewhere(first, second, "r3");
    await first.running.gateway.context.containment.contain(["other"], "operator");
    await expect
      .poll(() => second.running.gateway.context.containment.isContained("other"))
      .toBe(true);
    await first.running.close();
    for (const server of cluster?.nodes ?? [one]) expect(await server?.cli("ACL", "LOG")).toBe("");
  },
  60_000,
);

test("with when_down: degrade, each gateway counts alone while Redis is away, says so, and shares again", async () => {
  const server = await startRedis({ settings: ["appendonly yes", "appendfsync always"] });
  stopped.push(server);
  const block = { redis: server.url, when_down: "degrade" };
  const first = await start(block);
  const second = await start(block, first);
  await server.crash();
  expect(await notes(first, "r1")).toBe(15);
  expect(await notes(second, "r2")).toBe(15);
  const page = await (await first.control("/metrics")).text();
  expect(page).toMatch(/^countersign_velocity_degraded 1$/mu);
  expect(first.lines.map(({ code }) => code)).toContain("VELOCITY_ALONE");
  await server.start();
  await expect
    .poll(async () => (await first.control("/metrics")).text(), { timeout: 5000 })
    .toMatch(/^countersign_redis_up\{connection="commands"\} 1$/mu);
}, 60_000);

test("with when_down: refuse, a counted event is blocked while Redis is away", async () => {
  const server = await startRedis();
  stopped.push(server);
  const served = await start({ redis: server.url });
  await server.crash();
  expect(await notes(served, "r1")).toBe(0);
  expect(served.lines.map(({ code }) => code)).toContain("VELOCITY_UNCOUNTED");
}, 60_000);
