import { startRedis } from "@countersign/testkit";
import type { RunningRedis } from "@countersign/testkit";
import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countedLimits } from "../testing/counted-limits.js";
import { openScriptedCounts } from "../testing/scripted-redis.js";
import type { ScriptedCounts } from "../testing/scripted-redis.js";
import type { KeyedCountRequest, WindowLimit } from "./count-store.js";
import { grantVelocity, KEPT_LEASE_MS } from "./velocity-caps.js";
import type { VelocityCount } from "./velocity-caps.js";

let server: RunningRedis;
const opened: ScriptedCounts[] = [];
let logs = 0;

beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  for (const one of opened) await one.close();
  await server.stop();
});

async function open(): Promise<ScriptedCounts> {
  const counts = await openScriptedCounts(server.url, `log ${(logs += 1)}`);
  opened.push(counts);
  await counts.setTime(1_800_000_000_000);
  return counts;
}

const TEN: WindowLimit = { kind: "window", max: 10, capacity: 10, windowMs: 60_000 };
let leases = 0;
function ask(wanted: number, changes: Partial<KeyedCountRequest> = {}): KeyedCountRequest {
  leases += 1;
  return { key: "k", limit: TEN, settled: [], wanted, lease: `l${leases}`, ...changes };
}

test("the script answers as the function of the other stores does, for any requests at any times", async () => {
  const counts = await open();
  const stores = [await counts.open("a"), await counts.open("b")];
  let key = 0;
  const step = fc.record({
    gateway: fc.nat(1),
    wanted: fc.nat(20),
    later: fc.oneof(fc.nat(50), fc.nat(9000), fc.nat(70_000)),
    reports: fc.array(
      fc.record({
        back: fc.nat(6),
        used: fc.nat(20),
        ageMs: fc.integer({ min: -10, max: 20_000 }),
      }),
      { maxLength: 3 },
    ),
  });
  let given = 0;
  await fc.assert(
    fc.asyncProperty(
      countedLimits(),
      fc.array(step, { maxLength: 25 }),
      fc.integer({ min: 1_700_000_000_000, max: 1_900_000_000_000 }),
      async (limit, steps, start) => {
        key += 1;
        let now = start;
        let before: VelocityCount | undefined;
        const earlier: string[] = [];
        for (const { gateway, wanted, later, reports } of steps) {
          now += later;
          const settled = reports.flatMap(({ back, used, ageMs }) => {
            const id = earlier.at(-1 - back);
            return id === undefined ? [] : [{ id, used, ageMs }];
          });
          const request = ask(wanted, { key: `d${key}`, limit, settled });
          earlier.push(request.lease);
          await counts.setTime(now);
          const [result] = (await stores[gateway]?.exchange([request])) ?? [];
          const wantedAnswer = grantVelocity(
            before,
            { ...request, limit },
            gateway === 0 ? "a" : "b",
            now,
          );
          before = JSON.parse(JSON.stringify(wantedAnswer.count)) as VelocityCount;
          expect(result?.given).toBe(wantedAnswer.result.given);
          expect(result?.elsewhere).toBe(wantedAnswer.result.elsewhere);
          expect(result?.used).toBeCloseTo(wantedAnswer.result.used, 6);
          given += result?.given ?? 0;
        }
      },
    ),
    { numRuns: 200 },
  );
  expect(given).toBeGreaterThan(500);
});

test("of many concurrent requests of four gateways none is granted another's events", async () => {
  const counts = await open();
  const stores = await Promise.all(["a", "b", "c", "d"].map((name) => counts.open(name)));
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  const given = new Map<string, number>();
  await Promise.all(
    stores.flatMap((store, place) =>
      Array.from({ length: 10 }, async (_, round) => {
        const order = keys.slice((place + round) % 20).concat(keys.slice(0, (place + round) % 20));
        const answers = await store.exchange(
          order.map((key) => ask(1, { key, limit: { ...TEN, max: 25, capacity: 25 } })),
        );
        answers.forEach((answer, index) => {
          const key = order[index] ?? "";
          given.set(key, (given.get(key) ?? 0) + answer.given);
        });
      }),
    ),
  );
  expect([...given.values()]).toEqual(keys.map(() => 25));
});

test("a server that comes back empty grants nothing until the window has passed", async () => {
  const counts = await open();
  const [a, b] = [await counts.open("a"), await counts.open("b")];
  const start = 1_800_000_000_000;
  await a.exchange([ask(10)]);
  await counts.restartEmpty();
  for (const after of [0, 30_000, KEPT_LEASE_MS + 59_000]) {
    await counts.setTime(start + after);
    expect(await b.exchange([ask(5)])).toMatchObject([{ given: 0, used: 10 }]);
  }
  expect(counts.losses).toBeGreaterThan(0);
  await counts.setTime(start + KEPT_LEASE_MS + 62_000);
  expect(await b.exchange([ask(5)])).toMatchObject([{ given: 5 }]);
});

test("a server that evicts counts closes the caps", async () => {
  const own = await startRedis({ settings: ["maxmemory-policy volatile-ttl"] });
  const counts = await openScriptedCounts(own.url, "evicting");
  await counts.setTime(1_800_000_000_000);
  const store = await counts.open("a");
  expect(await store.exchange([ask(10)])).toMatchObject([{ given: 10 }]);
  await own.cli("CONFIG", "SET", "maxmemory", "1mb");
  const isThere = (): Promise<unknown> =>
    counts.redis.command("EXISTS", counts.redis.key("shared", "count:k"));
  // The state of the server has no time to live, so that only counts are evicted.
  await expect.poll(isThere, { timeout: 5000 }).toBe(0);
  await own.cli("CONFIG", "SET", "maxmemory", "0");
  expect(await store.exchange([ask(1)])).toMatchObject([{ given: 0, used: 10 }]);
  expect(counts.losses).toBe(1);
  await counts.setTime(1_800_000_000_000 + KEPT_LEASE_MS + 62_000);
  expect(await store.exchange([ask(1)])).toMatchObject([{ given: 1 }]);
  await counts.close();
  await own.stop();
});

test("a replica that has everything continues after six seconds without a loss", async () => {
  const counts = await open();
  const [a, b] = [await counts.open("a"), await counts.open("b")];
  await a.exchange([ask(4)]);
  await counts.copy();
  await counts.failOver();
  await expect(b.exchange([ask(1)])).rejects.toMatchObject({ code: "ERR_VELOCITY_UNAVAILABLE" });
  await a.checkIn();
  await counts.setTime(1_800_000_000_000 + KEPT_LEASE_MS + 1);
  // The lease without a report counts as used.
  expect(await b.exchange([ask(9)])).toMatchObject([{ given: 6, used: 10 }]);
  expect(counts.losses).toBe(0);
});

test("a replica that is behind closes the caps, also when only an idle gateway has the newest answer", async () => {
  const counts = await open();
  const [a, b] = [await counts.open("a"), await counts.open("b")];
  await b.exchange([ask(1)]);
  await counts.copy();
  await a.exchange([ask(9, { lease: "last" })]);
  await a.exchange([ask(0, { settled: [{ id: "last", used: 9, ageMs: 0 }] })]);
  await counts.failOver();
  await expect(b.exchange([ask(1)])).rejects.toThrow();
  await a.checkIn();
  await counts.setTime(1_800_000_000_000 + KEPT_LEASE_MS + 1);
  expect(await b.exchange([ask(9)])).toMatchObject([{ given: 0, used: 10 }]);
  expect(counts.losses).toBeGreaterThan(0);
});

test("the first start of several gateways together is no loss", async () => {
  const counts = await open();
  const stores = await Promise.all(["a", "b", "c", "d"].map((name) => counts.open(name)));
  expect(await stores[3]?.exchange([ask(10)])).toMatchObject([{ given: 10 }]);
  expect(counts.losses).toBe(0);
});

test("counts leave Redis by themselves, and logs do not see each other's", async () => {
  const [one, other] = [await open(), await open()];
  const store = await one.open("a");
  expect(await store.exchange([ask(10)])).toMatchObject([{ given: 10 }]);
  expect(await (await other.open("a")).exchange([ask(10)])).toMatchObject([{ given: 10 }]);
  const left = Number(await one.redis.command("PTTL", one.redis.key("shared", "count:k")));
  expect(left).toBeGreaterThan(60_000);
  expect(left).toBeLessThanOrEqual(KEPT_LEASE_MS + 120_000);
});

test("a count with an event in each part of its window takes less than a kilobyte", async () => {
  const counts = await open();
  const store = await counts.open("gateway-with-a-long-name-0123456789abcdef");
  const limit = { ...TEN, max: 100_000, capacity: 100_000 };
  for (let slice = 0; slice < 65; slice += 1) {
    await counts.setTime(1_800_000_000_000 + slice * 1000);
    const id = `gateway-with-a-long-name-0123456789abcdef/${slice}`;
    await store.exchange([ask(1000, { limit, lease: id })]);
    await store.exchange([ask(0, { limit, settled: [{ id, used: 1000, ageMs: 0 }] })]);
  }
  const key = counts.redis.key("shared", "count:k");
  expect(Number(await counts.redis.command("MEMORY", "USAGE", key))).toBeLessThan(1000);
});
