import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { SYSTEM_CLOCK } from "../base/ports.js";
import type { KeyedStore } from "../store/keyed-store.js";
import { openPostgresKeyedStore } from "../store/postgres/open-postgres-store.js";
import { openSqliteKeyedStore } from "../store/sqlite/open-sqlite-store.js";
import { button, clicks, drawing, openSurfaceThread, shows } from "../testing/surface-thread.js";
import type { SurfaceThread } from "../testing/surface-thread.js";

let database: RunningPostgres;
let thread: SurfaceThread | undefined;
const stores: KeyedStore[] = [];
beforeAll(async () => {
  database = await startPostgres();
}, 30_000);
afterEach(async () => {
  await thread?.stop();
  thread = undefined;
  for (const store of stores.splice(0)) await store.close();
});
afterAll(() => database.stop(), 30_000);

async function openDatabase(): Promise<KeyedStore> {
  const store = await openPostgresKeyedStore({
    url: database.url,
    name: "clicks",
    clock: SYSTEM_CLOCK,
  });
  stores.push(store);
  return store;
}

const CARD = drawing("card", button("pay", "pay_invoice", ["id"]));
const CLICK = clicks("card", "pay", "pay_invoice", { id: 7 });

test("of two clicks at once at two gateways of one PostgreSQL one reaches the agent", async () => {
  thread = await openSurfaceThread({ ledgers: [await openDatabase(), await openDatabase()] });
  for (let round = 0; round < 25; round += 1) {
    thread.begin();
    await thread.draw([shows(CARD)], round % 2);
    const before = thread.gateways.map(({ agentRequests }) => agentRequests.length);
    const answers = await Promise.all([0, 1].map((at) => thread?.send(CLICK, [], at)));
    // Without a directory of gateways the thread has no lock, so the claim alone decides.
    const codes = answers.map((answer) => answer?.code ?? "accepted");
    expect(codes.toSorted()).toEqual(["ERR_REQUEST_ACTION_USED", "accepted"]);
    const asked = thread.gateways.map(
      ({ agentRequests }, at) => agentRequests.length - (before[at] ?? 0),
    );
    expect(asked.toSorted()).toEqual([0, 1]);
    for (const at of [0, 1]) {
      expect((await thread.send(CLICK, [], at)).code).toBe("ERR_REQUEST_ACTION_USED");
    }
  }
}, 60_000);

test("a click at another gateway, or after a restart, finds what the thread was shown", async () => {
  thread = await openSurfaceThread({ ledgers: [await openDatabase(), await openDatabase()] });
  await thread.draw([shows(CARD)], 0);
  expect((await thread.send(clicks("card", "pay", "other"), [], 1)).code).toBe(
    "ERR_REQUEST_ACTION_UNKNOWN",
  );
  expect((await thread.send(CLICK, [], 1)).status).toBe(200);
  await thread.restart(0);
  expect((await thread.send(CLICK, [], 0)).code).toBe("ERR_REQUEST_ACTION_USED");
});

test("SQLite keeps what the thread was shown and used", async () => {
  const directory = await mkdtemp(join(tmpdir(), "countersign-clicks-"));
  try {
    for (const expected of [undefined, "ERR_REQUEST_ACTION_USED"]) {
      const ledger = await openSqliteKeyedStore({ directory, clock: SYSTEM_CLOCK });
      thread ??= await openSurfaceThread({ ledgers: [ledger] });
      if (expected === undefined) await thread.draw([shows(CARD)]);
      else await thread.restart(0, ledger);
      expect((await thread.send(CLICK)).code).toBe(expected);
      await ledger.close();
    }
  } finally {
    await thread?.stop();
    thread = undefined;
    await rm(directory, { recursive: true, force: true });
  }
});
