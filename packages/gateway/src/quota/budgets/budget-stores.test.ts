import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import * as fc from "fast-check";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSqliteKeyedStore } from "../../store/sqlite/open-sqlite-store.js";
import type { BudgetStore } from "./budget-store.js";
import { openLedgerBudgets } from "./ledger-budgets.js";
import { openPostgresBudgets } from "./postgres-budgets.js";

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

type Opened = { readonly store: BudgetStore; close(): Promise<void> };

const KINDS: Record<string, (at?: { now(): number }) => Promise<Opened>> = {
  postgres: async (at = clock) => {
    const store = await openPostgresBudgets({ url: database.url, name: "log", clock: at });
    return { store, close: () => store.close() };
  },
  ledger: async (at = clock) => {
    const ledger = await openSqliteKeyedStore({ directory: folder, clock: at });
    const store = await openLedgerBudgets(ledger, at);
    return { store, close: () => ledger.close() };
  },
};

const request = { maxEvents: 10, expiresAt: NOW + 60, wanted: 4, opened: 0 };

describe.each(Object.keys(KINDS))("budgets in %s", (kind) => {
  const open = KINDS[kind] as (at?: { now(): number }) => Promise<Opened>;

  test("no more is granted than the limit, returned events are granted again, and a restart forgets nothing", async () => {
    const id = `cap\u0000%/${kind}`;
    const first = await open();
    const take = (store: BudgetStore, wanted = 4, opened = 0) =>
      store.take({ ...request, id, wanted, opened });
    expect(await take(first.store)).toEqual({ given: 4, taken: 4, opened: 0 });
    expect(await take(first.store, 4, 3)).toEqual({ given: 4, taken: 8, opened: 3 });
    await first.close();
    const second = await open();
    expect(await take(second.store)).toEqual({ given: 2, taken: 10, opened: 3 });
    expect(await take(second.store)).toEqual({ given: 0, taken: 10, opened: 3 });
    await second.store.giveBack([{ id, unused: 2, opened: 5 }]);
    expect(await take(second.store, 100)).toEqual({ given: 2, taken: 10, opened: 8 });
    // An unknown id has no effect.
    await second.store.giveBack([{ id: "unknown", unused: 3, opened: 0 }]);
    expect((await second.store.take({ ...request, id: "unknown" })).given).toBe(4);
    await second.store.giveBack([{ id: "unknown", unused: 4, opened: 0 }]);
    await second.close();
  });

  test("for any concurrent requests, granted events never exceed the limit", async () => {
    const { store, close } = await open();
    let round = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 6 }), { maxLength: 5 }),
        async (maxEvents, turns) => {
          const id = `${kind}-${(round += 1)}`;
          let out = 0;
          for (const wants of turns) {
            const answers = await Promise.all(
              wants.map((wanted) => store.take({ ...request, id, maxEvents, wanted })),
            );
            const given = answers.reduce((sum, answer) => sum + answer.given, 0);
            out += given;
            expect(out).toBeLessThanOrEqual(maxEvents);
            // No request gets nothing while events are left.
            const wanted = wants.reduce((sum, want) => sum + want, 0);
            expect(given).toBe(Math.min(wanted, maxEvents - (out - given)));
            const unused = Math.floor(given / 2);
            await store.giveBack([{ id, unused, opened: given - unused }]);
            out -= unused;
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
    await first.store.take({ ...request, id, wanted: 10 });
    await first.close();
    const at = (seconds: number) => ({ now: () => (NOW + seconds) * 1000 });
    const nextDay = await open(at(60 + 86_400));
    expect((await nextDay.store.take({ ...request, id })).given).toBe(0);
    await nextDay.close();
    const later = await open(at(61 + 86_400));
    expect((await later.store.take({ ...request, id })).given).toBe(4);
    await later.close();
  });

  test("a limit above the largest integer is still a limit", async () => {
    const { store, close } = await open();
    const id = `huge-${kind}`;
    for (const maxEvents of [Number.POSITIVE_INFINITY, 2 ** 60]) {
      expect((await store.take({ ...request, id, maxEvents })).given).toBe(4);
    }
    await close();
  });
});

test("a grant that cannot be written is not made", async () => {
  let isFull = false;
  const store = await openLedgerBudgets(
    {
      claim: async () => ({ known: [], rows: [] }),
      write: async () => {
        if (isFull) throw new Error("disk full");
      },
    },
    clock,
  );
  isFull = true;
  await expect(store.take({ ...request, id: "x" })).rejects.toThrow("disk full");
  isFull = false;
  expect(await store.take({ ...request, id: "x", wanted: 100 })).toMatchObject({ given: 6 });
});
