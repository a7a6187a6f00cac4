import { startRedis } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countedLimits } from "../testing/counted-limits.js";
import { openScriptedCounts } from "../testing/scripted-redis.js";
import type { ScriptedCounts } from "../testing/scripted-redis.js";
import { commands, overrun, rates, World } from "../testing/simulated-gateways.js";
import type { Backend } from "../testing/simulated-gateways.js";
import { VELOCITY } from "./velocity-caps.js";

const RUNS = Number(process.env["VELOCITY_RUNS"] ?? 300);
let server: RunningRedis;
let logs = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.stop());

async function inRedis(work: (backend: Backend, counts: ScriptedCounts) => Promise<void>) {
  const counts = await openScriptedCounts(server.url, `log ${(logs += 1)}`);
  await counts.setTime(1_000_000);
  const stores = new Map<string, Awaited<ReturnType<ScriptedCounts["open"]>>>();
  const storeOf = async (name: string) => {
    const known = stores.get(name) ?? (await counts.open(name, 0));
    stores.set(name, known);
    return known;
  };
  const backend: Backend = {
    respond: async (name, requests, now) => {
      await counts.setTime(now);
      return (await storeOf(name)).exchange(requests);
    },
    copy: () => counts.copy(),
    fail: async (isEmpty, names, now) => {
      await counts.setTime(now);
      await (isEmpty ? counts.restartEmpty() : counts.failOver());
      for (const name of names) await stores.get(name)?.checkIn();
    },
  };
  try {
    // The first start, before any fault.
    await storeOf("first");
    await work(backend, counts);
  } finally {
    await counts.close();
  }
}

test("over Redis too, no window holds more than the limit, for any delays, losses, crashes and clocks", async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(countedLimits(), rates, commands(), (limit, clocks, steps) =>
      inRedis(async (backend) => {
        const world = new World(VELOCITY, limit, clocks, backend);
        for (const step of steps) await world.run(step);
        most = Math.max(most, world.used.length);
        expect(overrun(world.used, limit)).toBeUndefined();
      }),
    ),
    { numRuns: RUNS },
  );
  expect(most).toBeGreaterThan(15);
});

test("nor after restarts without data and failovers to replicas that are behind", async () => {
  let most = 0;
  let losses = 0;
  await fc.assert(
    fc.asyncProperty(countedLimits(), rates, commands(true), (limit, clocks, steps) =>
      inRedis(async (backend, counts) => {
        await counts.copy();
        const world = new World(VELOCITY, limit, clocks, backend);
        for (const step of steps) await world.run(step);
        most = Math.max(most, world.used.length);
        losses += counts.losses;
        expect(overrun(world.used, limit)).toBeUndefined();
      }),
    ),
    { numRuns: RUNS },
  );
  expect(most).toBeGreaterThan(15);
  expect(losses).toBeGreaterThan(RUNS / 10);
});
