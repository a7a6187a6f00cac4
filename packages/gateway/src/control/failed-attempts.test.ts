import { expect, test } from "vitest";
import { createControlApp } from "./app.js";
import type { ControlOptions } from "./app.js";
import { Feed } from "../telemetry/feed.js";
import { operatorAccess } from "../testing/operator-access.js";
import { createTelemetry } from "../telemetry/telemetry.js";

test("wrong admin tokens are counted, logged and limited per minute; the right one is always accepted", async () => {
  const told: object[] = [];
  const telemetry = createTelemetry();
  const journal = { warn: (facts: object) => void told.push(facts) };
  const clock = { now: () => 0 };
  const options = {
    gateway: { context: { clock, sessions: {}, feed: {}, journal, telemetry } },
    receipts: {},
    policy: {},
    tokens: {},
    access: operatorAccess("right"),
    isMetricsPublic: false,
    status: () => Promise.resolve({ ok: true }),
  } as unknown as ControlOptions;
  const app = createControlApp(options);
  const ask = async (token: string): Promise<number> =>
    (await app.request("/v1/status", { headers: { authorization: `Bearer ${token}` } })).status;
  const wrong: number[] = [];
  for (let times = 0; times < 22; times++) wrong.push(await ask("wrong"));
  expect(wrong.slice(0, 20).every((status) => status === 401)).toBe(true);
  expect(wrong.slice(20)).toEqual([429, 429]);
  expect(await ask("right")).toBe(200);
  expect([...telemetry.accessFailures.entries()]).toEqual([
    ["UNAUTHORIZED", "", 20],
    ["TOO_MANY_TRIES", "", 2],
  ]);
  expect(told).toHaveLength(22);
  expect(told.at(-1)).toEqual({ code: "TOO_MANY_TRIES", plane: "control" });
});

test("no response of the control plane may be cached", async () => {
  const options = {
    gateway: { context: { clock: { now: () => 0 }, sessions: {}, feed: new Feed() } },
    receipts: {},
    policy: {},
    tokens: {},
    access: operatorAccess("right"),
    status: () => Promise.resolve({ ok: true }),
    metrics: () => Promise.resolve("countersign_ready 1"),
  } as unknown as ControlOptions;
  const app = createControlApp(options);
  for (const path of ["/v1/status", "/metrics", "/v1/openapi.json", "/nowhere", "/v1/events"]) {
    const answer = await app.request(path, { headers: { authorization: "Bearer right" } });
    expect(answer.headers.get("cache-control")).toMatch(/^no-(?:store|cache)$/u);
    await answer.body?.cancel();
  }
});
