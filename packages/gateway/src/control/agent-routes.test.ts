import { sseFrame } from "@countersign/testkit";
import { afterEach, expect, test } from "vitest";
import { createOperatorToken } from "../access/operators.js";
import { SILENT_JOURNAL } from "../base/ports.js";
import { Containment } from "../runs/containment.js";
import { createMemoryStore } from "../store/memory-store.js";
import { AgentResults } from "../telemetry/agent-health.js";
import { idsOf, inRun } from "../testing/events.js";
import { HELD_AGENT } from "../testing/held-agent.js";
import { startServed } from "../testing/served.js";
import type { Served } from "../testing/served.js";
import { post } from "../testing/transports.js";

let served: Served | undefined;
afterEach(() => served?.stop());

const ask = async (path: string, body?: object) => {
  const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const response = await (served as Served).control(path, init);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

test("a stop of an agent ends its runs, refuses new ones and survives until it is resumed; each has a receipt", async () => {
  served = await startServed(HELD_AGENT);
  const url = `${served.running.dataUrl}/agents/support?session=s1`;
  const open = await post(url, { threadId: "t1", runId: "held-1" });
  expect((await ask("/v1/stop-all?agent=support")).body).toMatchObject({
    agents: ["support"],
    runs: [{ session_id: "s1", run_id: "held-1", agent: "support" }],
  });
  expect((await ask("/v1/agents")).body).toMatchObject({
    items: [{ name: "support", open_runs: 1 }],
  });
  const unexpected = await ask("/v1/stop-all", { agent: "support", expect_runs: 0 });
  expect(unexpected).toMatchObject({ status: 409, body: { code: "ERR_CONTROL_STOP_CHANGED" } });
  expect((await ask("/v1/stop-all", { agent: "nobody" })).status).toBe(400);
  expect(await ask("/v1/stop-all", { agent: "support", expect_runs: 1 })).toMatchObject({
    status: 202,
    body: { agents: ["support"], stopped: [{ session_id: "s1", run_id: "held-1" }] },
  });
  expect(await open.text()).toContain("RUN_STOPPED");
  const refused = await post(url, { threadId: "t2", runId: "r2" });
  expect(refused.status).toBe(503);
  expect(await refused.json()).toMatchObject({ code: "ERR_AGENT_CONTAINED" });
  expect(served.agentRequests).toHaveLength(1);
  const { items } = (await ask("/v1/agents")).body as {
    items: { contained?: { operator: string } }[];
  };
  expect(items[0]?.contained?.operator).toMatch(/^admin-/u);
  expect((await ask("/v1/agents/support/resume", {})).status).toBe(200);
  expect((await ask("/v1/agents/support/resume", {})).status).toBe(409);
  expect((await post(url, { threadId: "t3", runId: "r3" })).status).toBe(200);
  const { entries } = (await ask("/v1/receipts?order=oldest")).body as {
    entries: { rule?: string; receipt: { event_type: unknown } }[];
  };
  const told = entries.map(({ rule, receipt }) => rule ?? JSON.stringify(receipt.event_type));
  expect(told).toContain("gateway/operator-stop");
  expect(told).toContain('{"custom":"operator.agent-contain"}');
  expect(told).toContain('{"custom":"operator.agent-resume"}');
});

test("an agent that does not respond is failing, with code and reason, and ok after a run", async () => {
  let status = 500;
  served = await startServed(({ body }) =>
    status === 500 ? { status, pieces: [] } : { pieces: inRun(idsOf(body), []).map(sseFrame) },
  );
  expect((await ask("/v1/agents")).body).toMatchObject({
    items: [{ health: "unknown", recent_failures: [] }],
  });
  const url = `${served.running.dataUrl}/agents/support?session=s1`;
  await (await post(url, { threadId: "t1", runId: "r1" })).text();
  expect((await ask("/v1/agents")).body).toMatchObject({
    items: [
      {
        health: "failing",
        recent_failures: [{ code: "ERR_UPSTREAM_STATUS", reason: expect.stringContaining("500") }],
      },
    ],
  });
  status = 200;
  await (await post(url, { threadId: "t2", runId: "r2" })).text();
  expect((await ask("/v1/agents")).body).toMatchObject({
    items: [
      {
        health: "ok",
        last_success_at: expect.any(Number),
        recent_failures: [{ code: "ERR_UPSTREAM_STATUS" }],
      },
    ],
  });
});

test("a viewer sees the host of an agent, an operator its address without credentials", async () => {
  const viewer = createOperatorToken();
  served = await startServed(() => ({ pieces: [] }), {
    control: `operators: [{ name: v, role: viewer, token: "${viewer.hash}" }]\n`,
    config: "default_agent: support\n",
  });
  const address = async (token: string): Promise<unknown> => {
    const response = await fetch(`${served?.running.controlUrl}/v1/agents`, {
      headers: { authorization: `Bearer ${token}` },
    });
    return ((await response.json()) as { items: { url: string }[] }).items[0]?.url;
  };
  expect(await address(viewer.key)).toMatch(/^127\.0\.0\.1:\d+$/u);
  expect(await address(served.adminToken)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\//u);
});

test("containment survives a restart; a store that does not answer leaves an agent contained", async () => {
  const parts = { clock: { now: () => 5 }, journal: SILENT_JOURNAL };
  const store = createMemoryStore(parts.clock);
  const first = new Containment(store, parts);
  expect(await first.contain(["a", "b"], "ann")).toBe(true);
  const second = new Containment(store, parts);
  await second.open();
  expect(second.list()).toEqual([
    { agent: "a", operator: "ann", at: 5 },
    { agent: "b", operator: "ann", at: 5 },
  ]);
  const broken = { ...store, write: () => Promise.reject(new Error("down")) };
  const third = new Containment(broken, parts);
  await third.open();
  await expect(third.resume("a")).rejects.toThrow("down");
  expect(third.isContained("a")).toBe(true);
  expect(await third.contain(["c"], "ann")).toBe(false);
  expect(third.isContained("c")).toBe(true);
});

test("the failures of an agent are bounded in number and length", () => {
  const results = new AgentResults();
  for (let at = 0; at < 50; at++) results.failed("a", at, "x".repeat(1000), "y".repeat(1000));
  const { failures, health } = results.healthOf("a");
  expect(health).toBe("failing");
  expect(failures).toHaveLength(20);
  expect(failures[0]).toMatchObject({ at: 49, code: "x".repeat(256) });
});
