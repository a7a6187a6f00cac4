import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import * as fc from "fast-check";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteKeyedStore } from "../store/sqlite/open-sqlite-store.js";
import { BUDGETS } from "./token-budgets.js";
import type { CountStore, KeyedCountRequest, SettledLease, TotalLimit } from "./count-store.js";
import { openKeyedCounts } from "./keyed-counts.js";
import { openPostgresCounts } from "./postgres-counts.js";

const NOW = 1_800_000_000;
const clock = { now: (): number => NOW * 1000 };

let database: RunningPostgres;
let folder: string;
beforeAll(async () => {
  database = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), "countersign-budgets-"));
}, 30_000);
afterAll(async () => {
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}, 30_000);

type Opened = { readonly store: CountStore; close(): Promise<void> };

const KINDS: Record<string, (at?: { now(): number }) => Promise<Opened>> = {
  postgres: async (at = clock) => {
    const options = { url: database.url, name: "log", gateway: "g", clock: at };
    const store = await openPostgresCounts(BUDGETS, options);
    return { store, close: () => store.close() };
  },
  "keyed store": async (at = clock) => {
    const keyed = await openSqliteKeyedStore({ directory: folder, clock: at });
    const store = await openKeyedCounts(BUDGETS, { store: keyed, gateway: "g", clock: at });
    return { store, close: () => keyed.close() };
  },
};

const LIMIT: TotalLimit = {
  kind: "total",
  capacity: 10,
  windowMs: Number.POSITIVE_INFINITY,
  expiresAt: NOW + 60,
};
let leases = 0;

/** Requests events; returns their lease too. */
async function take(store: CountStore, key: string, changes: Partial<KeyedCountRequest> = {}) {
  leases += 1;
  const lease = `l${leases}`;
  const request = { key, limit: LIMIT, wanted: 4, settled: [], lease, ...changes };
  const [result] = await store.exchange([request]);
  if (result === undefined) throw new TypeError("no result");
  return { ...result, lease };
}

/** Reports on leases. */
const giveBack = (store: CountStore, key: string, settled: readonly SettledLease[]) =>
  take(store, key, { wanted: 0, settled });

describe.each(Object.keys(KINDS))("budgets in %s", (kind) => {
  const open = KINDS[kind] as (at?: { now(): number }) => Promise<Opened>;

  test("no more is granted than the limit, returned events are granted again, and a restart forgets nothing", async () => {
    const id = `cap\u0000%/${kind}`;
    const first = await open();
    const [one, two] = [await take(first.store, id), await take(first.store, id)];
    expect([one, two]).toMatchObject([
      { given: 4, used: 4 },
      { given: 4, used: 8 },
    ]);
    await first.close();
    const second = await open();
    const three = await take(second.store, id);
    expect(three).toMatchObject({ given: 2, used: 10 });
    expect(await take(second.store, id)).toMatchObject({ given: 0, used: 10 });
    const settled = [
      { id: two.lease, used: 3, ageMs: 0 },
      { id: three.lease, used: 1, ageMs: 0 },
    ];
    expect(await giveBack(second.store, id, settled)).toMatchObject({ given: 0, used: 8 });
    // A repeated report, or one on an unknown lease, has no effect.
    expect(await giveBack(second.store, id, settled)).toMatchObject({ given: 0, used: 8 });
    expect(await take(second.store, id, { wanted: 100 })).toMatchObject({ given: 2, used: 10 });
    await giveBack(second.store, "unknown", [{ id: one.lease, used: 0, ageMs: 0 }]);
    expect((await take(second.store, "unknown")).given).toBe(4);
    await second.close();
  });

  test("for any concurrent requests, granted events never exceed the limit", async () => {
    const { store, close } = await open();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 6 }), { maxLength: 5 }),
        async (capacity, turns) => {
          const id = `${kind}-${(round += 1)}`;
          const limit = { ...LIMIT, capacity };
          let out = 0;
          for (const wants of turns) {
            const answers = await Promise.all(
              wants.map((wanted) => take(store, id, { limit, wanted })),
            );
            const given = answers.reduce((sum, answer) => sum + answer.given, 0);
            out += given;
            expect(out).toBeLessThanOrEqual(capacity);
            // No request gets nothing while events are left.
            const wanted = wants.reduce((sum, want) => sum + want, 0);
            expect(given).toBe(Math.min(wanted, capacity - (out - given)));
            const settled = answers.map((answer) => ({
              id: answer.lease,
              used: Math.ceil(answer.given / 2),
              ageMs: 0,
            }));
            await take(store, id, { limit, wanted: 0, settled });
            out -= answers.reduce((sum, answer) => sum + Math.floor(answer.given / 2), 0);
          }
        },
      ),
      { numRuns: 15 },
    );
    await close();
  }, 30_000);

  test("a row is removed a day after its capability expired, and not before", async () => {
    const id = `old-${kind}`;
    const first = await open();
    await take(first.store, id, { wanted: 10 });
    await first.close();
    const at = (seconds: number) => ({ now: () => (NOW + seconds) * 1000 });
    const nextDay = await open(at(60 + 86_400));
    expect((await take(nextDay.store, id)).given).toBe(0);
    await nextDay.close();
    const later = await open(at(61 + 86_400));
    expect((await take(later.store, id)).given).toBe(4);
    await later.close();
  });

  test("a limit above the largest integer is still a limit", async () => {
    const { store, close } = await open();
    const id = `huge-${kind}`;
    for (const capacity of [Number.POSITIVE_INFINITY, 2 ** 60]) {
      const limit = { ...LIMIT, capacity, expiresAt: capacity };
      expect((await take(store, id, { limit })).given).toBe(4);
    }
    await close();
  });
});

test("a grant that cannot be written is not made", async () => {
  let isFull = false;
  const keyed = {
    claim: async () => ({ known: [], rows: [] }),
    write: async () => {
      if (isFull) throw new Error("disk full");
    },
  };
  const store = await openKeyedCounts(BUDGETS, { store: keyed, gateway: "g", clock });
  isFull = true;
  await expect(take(store, "x")).rejects.toThrow("disk full");
  isFull = false;
  expect(await take(store, "x", { wanted: 100 })).toMatchObject({ given: 6 });
});

/** The statements of the release before leases, which run beside newer gateways during an upgrade. */
const OLD_TAKE = `INSERT INTO countersign_budgets AS budget VALUES ($1, $2, least($4::bigint, $3::bigint), least($4::bigint, $3::bigint), $5::bigint, $6::bigint)
  ON CONFLICT (log, capability_id) DO UPDATE SET
    given = greatest(0, least($4::bigint, $3::bigint - budget.taken)),
    taken = budget.taken + greatest(0, least($4::bigint, $3::bigint - budget.taken)),
    opened = budget.opened + $5::bigint,
    expires_at = greatest(budget.expires_at, $6::bigint)
  RETURNING given`;
const OLD_GIVE_BACK = `UPDATE countersign_budgets SET taken = taken - $3, opened = opened + $4
  WHERE log = $1 AND capability_id = $2`;

test("gateways of the release before share a budget with newer ones", async () => {
  const { store, close } = await (KINDS["postgres"] as () => Promise<Opened>)();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const oldTake = async (wanted: number): Promise<number> => {
    const { rows } = await client.query(OLD_TAKE, ["log", "mixed", 10, wanted, 0, NOW + 60]);
    return Number((rows[0] as { given: string }).given);
  };
  expect(await oldTake(3)).toBe(3);
  const mine = await take(store, "mixed");
  expect(mine).toMatchObject({ given: 4, used: 7, elsewhere: 3 });
  expect(await oldTake(5)).toBe(3);
  expect(await take(store, "mixed")).toMatchObject({ given: 0, elsewhere: 6 });
  await client.query(OLD_GIVE_BACK, ["log", "mixed", 2, 4]);
  await giveBack(store, "mixed", [{ id: mine.lease, used: 1, ageMs: 0 }]);
  expect(await oldTake(10)).toBe(5);
  await client.end();
  await close();
});

test("a row of the release before in the keyed store is continued", async () => {
  const row = { kind: "budget", id: "x", value: { taken: 7, opened: 5, expiresAt: NOW } } as const;
  const keyed = { claim: async () => ({ known: [], rows: [row] }), write: async () => {} };
  const store = await openKeyedCounts(BUDGETS, { store: keyed, gateway: "g", clock });
  expect(await take(store, "x")).toMatchObject({ given: 3, used: 10, elsewhere: 2 });
});
