import { sseFrame, startFakeAgent, startPostgres } from "@countersign/testkit";
import type { FakeAgent, RunningPostgres } from "@countersign/testkit";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { expect, test } from "vitest";
import { chatter, idsOf, inRun, message } from "./harness/agent.js";
import { codeOf, finishRun, openRun, timeGet, untilReady } from "./harness/client.js";
import type { ClientRun } from "./harness/client.js";
import { startIn, writeSettings } from "./harness/gateway.js";
import type { GatewayProcess } from "./harness/gateway.js";
import { checkLog, unreceipted } from "./harness/log.js";
import { until } from "./harness/scale.js";
import { createScene } from "./harness/scene.js";

const scene = createScene();

async function startStore(): Promise<RunningPostgres> {
  const store = await startPostgres({ settings: { fsync: "on" } });
  scene.defer(() => store.stop());
  return store;
}

/** Chatters for ever, except to those who ask for something short. */
async function startAgent(): Promise<FakeAgent> {
  const agent = await startFakeAgent((request) =>
    idsOf(request).threadId.startsWith("short")
      ? { pieces: inRun(idsOf(request), message(`m-${idsOf(request).runId}`, "hi")).map(sseFrame) }
      : chatter(request, 5),
  );
  scene.defer(() => agent.stop());
  return agent;
}

const countOf = (runs: readonly ClientRun[]): number =>
  runs.reduce((sum, { events }) => sum + events.length, 0);

test("two gateways on one PostgreSQL write one log without a gap, also when one of them is killed", async () => {
  const store = await startStore();
  const agent = await startAgent();
  const config = { receipts: { store: store.url } };
  const first = await scene.directory();
  writeSettings(first, { agent: agent.url, config });
  const gateways: GatewayProcess[] = [await startIn(scene, first)];
  // One log has one set of keys, wherever it is written from.
  const second = await scene.directory();
  writeSettings(second, { agent: agent.url, config });
  await cp(join(first, "keys"), join(second, "keys"), { recursive: true });
  gateways.push(await startIn(scene, second));

  const runs = gateways.flatMap(({ url }) => Array.from({ length: 6 }, () => openRun(url)));
  await until("both deliver", () => runs.every(({ events }) => events.length > 30));
  await gateways[1]?.kill();
  const survivors = runs.slice(0, 6);
  const then = countOf(survivors);
  await until("the other goes on", () => countOf(survivors) > then + 200);
  const again = await startIn(scene, second);
  const after = await finishRun(again.url, { threadId: "short" });
  expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  for (const run of survivors) run.abort();
  await Promise.all(runs.map(({ ended }) => ended));
  expect(await again.stop()).toBe(0);
  expect(await gateways[0]?.stop()).toBe(0);

  const log = await checkLog(first);
  expect(unreceipted(log, [...runs, after])).toEqual([]);
  // Both wrote into the same sequence, in turns.
  const writers = runs.map(({ runId }) => log.entries.some(({ run_id: id }) => id === runId));
  expect(writers).toEqual(runs.map(() => true));
}, 90_000);

test("PostgreSQL goes and comes back: nothing is delivered without a receipt, requests are refused, and no restart is needed", async () => {
  const store = await startStore();
  const agent = await startAgent();
  const directory = await scene.directory();
  writeSettings(directory, { agent: agent.url, config: { receipts: { store: store.url } } });
  const gateway = await startIn(scene, directory);
  const runs = Array.from({ length: 8 }, () => openRun(gateway.url));
  await until("all deliver", () => runs.every(({ events }) => events.length > 20));

  await store.crash();
  await Promise.all(runs.map(({ ended }) => ended));
  for (const run of runs) expect(codeOf(run)).toBe("RECEIPTS_UNAVAILABLE");
  const refused = await finishRun(gateway.url, { threadId: "short-1" });
  expect(refused.status).toBe(503);
  expect((await timeGet(`${gateway.url}/readyz`)).status).toBe(503);
  expect((await timeGet(`${gateway.url}/ping`)).status).toBe(200);

  await store.start();
  await untilReady(gateway.url);
  const after = await finishRun(gateway.url, { threadId: "short-2" });
  expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(await gateway.stop()).toBe(0);
  expect(unreceipted(await checkLog(directory), [...runs, after])).toEqual([]);
}, 90_000);

test("PostgreSQL falls silent without hanging up: within seconds runs end, requests are refused and readiness is red; it comes back by itself", async () => {
  const store = await startStore();
  const agent = await startAgent();
  const directory = await scene.directory();
  writeSettings(directory, { agent: agent.url, config: { receipts: { store: store.url } } });
  const gateway = await startIn(scene, directory);
  const runs = Array.from({ length: 4 }, () => openRun(gateway.url));
  await until("all deliver", () => runs.every(({ events }) => events.length > 20));

  await store.freeze();
  const then = countOf(runs);
  await Promise.all(runs.map(({ ended }) => ended));
  for (const run of runs) expect(codeOf(run)).toBe("RECEIPTS_UNAVAILABLE");
  // The events in transit, and the end of each run.
  expect(countOf(runs) - then).toBeLessThan(runs.length * 200);
  const refused = await finishRun(gateway.url, { threadId: "short-1" });
  expect(refused.status).toBe(503);
  expect((await timeGet(`${gateway.url}/readyz`)).status).toBe(503);

  await store.thaw();
  await untilReady(gateway.url);
  const after = await finishRun(gateway.url, { threadId: "short-2" });
  expect(after.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  expect(await gateway.stop()).toBe(0);
  expect(unreceipted(await checkLog(directory), [...runs, after])).toEqual([]);
}, 120_000);

test("a writer that froze while it held the log is rolled back, and the others go on", async () => {
  const store = await startStore();
  const agent = await startAgent();
  const directory = await scene.directory();
  writeSettings(directory, { agent: agent.url, config: { receipts: { store: store.url } } });
  const gateway = await startIn(scene, directory);
  const frozen = new Client({ connectionString: store.url });
  // The server ends it, which is what this is about.
  frozen.on("error", () => {});
  await frozen.connect();
  await frozen.query(
    "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'; SELECT size FROM countersign_logs FOR UPDATE",
  );
  const waited = await finishRun(gateway.url, { threadId: "short" });
  expect(waited.events.at(-1)).toMatchObject({ type: "RUN_FINISHED" });
  await expect(frozen.query("COMMIT")).rejects.toThrow();
  expect(await gateway.stop()).toBe(0);
}, 60_000);
