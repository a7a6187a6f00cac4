import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../base/ports.js";
import type { CountStore, CountedLimit, KeyedCountRequest } from "./count-store.js";
import { openPostgresCounts } from "./postgres-counts.js";
import { VELOCITY } from "./velocity-caps.js";

let server: RunningPostgres;
const stores: CountStore[] = [];

beforeAll(async () => {
  server = await startPostgres();
}, 30_000);
afterAll(async () => {
  for (const store of stores) await store.close();
  await server.stop();
}, 30_000);

async function open(gateway: string, name = "log", answerMs = 30_000): Promise<CountStore> {
  const store = await openPostgresCounts(VELOCITY, {
    url: server.url,
    name,
    gateway,
    clock: SYSTEM_CLOCK,
    answerMs,
  });
  stores.push(store);
  return store;
}

const LIMIT: CountedLimit = { kind: "window", max: 100, capacity: 100, windowMs: 60_000 };
let leases = 0;
function question(key: string, wanted: number, changes: Partial<KeyedCountRequest> = {}) {
  leases += 1;
  return { key, limit: LIMIT, settled: [], wanted, lease: `l${leases}`, ...changes };
}

test("of many concurrent requests for many counts none is granted another's events", async () => {
  const gateways = await Promise.all(["a", "b", "c"].map((name) => open(name)));
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  const given = new Map<string, number>();
  await Promise.all(
    gateways.flatMap((store, place) =>
      Array.from({ length: 10 }, async (_, round) => {
        // Each request in a different order: there must be no deadlock.
        const order = keys.toSorted(
          (one, other) => hash(one, place + round) - hash(other, place + round),
        );
        const answers = await store.exchange(order.map((key) => question(key, 7)));
        answers.forEach((answer, index) => {
          const key = order[index] ?? "";
          given.set(key, (given.get(key) ?? 0) + answer.given);
        });
      }),
    ),
  );
  expect([...given.values()]).toEqual(keys.map(() => 100));
}, 30_000);

function hash(text: string, salt: number): number {
  return Math.sin(text.charCodeAt(1) * 7 + text.length + salt);
}

test("a later gateway knows earlier grants, and each log has its own counts", async () => {
  const [first] = await (await open("early")).exchange([question("late", 60)]);
  const [second] = await (await open("latecomer")).exchange([question("late", 60)]);
  const [third] = await (await open("stranger", "another log")).exchange([question("late", 60)]);
  expect([first, second, third]).toEqual([
    { given: 60, used: 60, elsewhere: 0 },
    { given: 40, used: 100, elsewhere: 60 },
    { given: 60, used: 60, elsewhere: 0 },
  ]);
});

test("only empty counts are removed", async () => {
  const store = await open("sweeper");
  const short: CountedLimit = { ...LIMIT, windowMs: 1 };
  await store.exchange([question("old", 1, { limit: short }), question("young", 1)]);
  const client = new Client(server.url);
  await client.connect();
  await client.query("UPDATE countersign_velocity SET empty_at = empty_at - 6500");
  await store.sweep();
  const { rows } = await client.query(
    "SELECT key FROM countersign_velocity WHERE key IN ('old', 'young')",
  );
  await client.end();
  expect(rows).toEqual([{ key: "young" }]);
});

test("a database that does not answer gives one error code, and its transaction is not half done", async () => {
  const store = await open("waiting", "log", 1000);
  await store.exchange([question("frozen", 10)]);
  await server.freeze();
  await expect(store.exchange([question("frozen", 10)])).rejects.toMatchObject({
    code: "ERR_VELOCITY_UNAVAILABLE",
  });
  await server.thaw();
  await expect
    .poll(() => store.exchange([question("frozen", 100)]).catch(() => [{ used: 0 }]), {
      timeout: 10_000,
    })
    .toMatchObject([{ used: 100 }]);
}, 30_000);
