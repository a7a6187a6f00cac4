import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storedRoot } from "../log/checkpoints.js";
import type { ReceiptLog } from "../log/open-log.js";
import { frontierRoot } from "../merkle/tree.js";
import type { ReceiptStore } from "../store/store.js";
import { checkWholeLog } from "../testing/check-log.js";
import { logOver } from "../testing/contract-log.js";
import { draftOf } from "../testing/drafts.js";
import { openPostgresStore } from "./open-postgres-store.js";
import { PARTITION_WIDTH, segmentsOf } from "./partitions.js";
import { planFirst } from "./remove-rows.js";

let server: RunningPostgres;
let client: Client;
beforeAll(async () => {
  server = await startPostgres();
  client = new Client({ connectionString: server.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await server.stop();
});

const open = (log: string) => openPostgresStore({ url: server.url, log });
const LARGE = { groupSize: 500, flushSize: 2_000 };
const append = (log: ReceiptLog, count: number, from: number): Promise<unknown> =>
  log.appendAll(Array.from({ length: count }, (_, at) => draftOf(from + at)));

/** Statements that wait, and those that they wait for. */
const WAITING = `SELECT waiting.query AS waiting, holder.query AS holder FROM pg_stat_activity AS waiting
  JOIN pg_stat_activity AS holder ON holder.pid = ANY (pg_blocking_pids(waiting.pid))`;

/** The entries of each table of a log. */
async function tablesOf(name: string): Promise<[first: string, count: number][]> {
  const { rows } = await client.query<{ log_id: number }>(
    "SELECT log_id FROM countersign_logs WHERE name = $1",
    [name],
  );
  const id = rows[0]?.log_id;
  const found = await client.query<{ name: string; count: string }>(
    "SELECT tableoid::regclass::text AS name, count(*) FROM countersign_entries WHERE log_id = $1 GROUP BY 1 ORDER BY min(seq)",
    [id],
  );
  return found.rows.map(({ name: table, count }) => [
    table.replace(`countersign_entries_${id}_`, ""),
    Number(count),
  ]);
}

/** A log with partitions of 2,560 entries each. */
async function fillPartitions(name: string, count: number): Promise<[ReceiptStore, ReceiptLog]> {
  const store = await open(name);
  const log = await logOver(store, LARGE);
  for (let at = 0; at < count; at += 1) {
    await append(log, 2_560, at * 2_560);
    await log.checkpoint();
    if (at < count - 1) await store.planRemoval(0, Number.POSITIVE_INFINITY);
  }
  return [store, log];
}

test("entries go to the table of their numbers, a batch to several", () => {
  const at = (part: number, next_part: number, start: number, end: number) =>
    segmentsOf(7, { part: String(part), next_part: String(next_part) }, start, end).map(
      ({ table, from, to }) => [table.replace("countersign_entries", ""), from, to],
    );
  expect(at(-1, -1, 5, 9)).toEqual([["", 5, 9]]);
  expect(at(0, -1, 5, 9)).toEqual([["_7_0", 5, 9]]);
  expect(at(0, 256, 5, 900)).toEqual([
    ["_7_0", 5, 256],
    ["_7_256", 256, 900],
  ]);
  expect(at(-1, 256, 5, 900)).toEqual([
    ["", 5, 256],
    ["_7_256", 256, 900],
  ]);
  const end = PARTITION_WIDTH;
  expect(at(0, -1, end - 2, end + 3)).toEqual([
    ["_7_0", end - 2, end],
    ["", end, end + 3],
  ]);
  expect(at(0, end, end + 1, end + 3)).toEqual([[`_7_${end}`, end + 1, end + 3]]);
});

test("a batch over the border of two partitions is stored in both, and one without a partition in the parent", async () => {
  const store = await open("border");
  const log = await logOver(store, LARGE);
  await append(log, 100, 0);
  await store.planRemoval(0, 100);
  await append(log, 400, 100);
  expect(await tablesOf("border")).toEqual([
    ["0", 256],
    ["256", 244],
  ]);
  await client.query("UPDATE countersign_logs SET part = -1, next_part = -1 WHERE name = 'border'");
  await append(log, 100, 500);
  expect((await tablesOf("border")).at(-1)).toEqual(["countersign_entries", 100]);
  expect(await checkWholeLog(store)).toHaveLength(600);
  expect(await store.count({})).toEqual([{ count: 600, group: [] }]);
  await log.close();
});

test("removal drops tables; appends meanwhile are not held up, nor while a query reads the dropped table", async () => {
  const [store, log] = await fillPartitions("dropped", 4);
  expect((await tablesOf("dropped")).map(([, count]) => count)).toEqual([
    2_560, 2_560, 2_560, 2_560,
  ]);
  const planned = await store.planRemoval(7_700, 0);
  expect(planned).toBe(7_680);

  const waits: number[] = [];
  let isRunning = true;
  let number = 20_000;
  const appending = (async () => {
    while (isRunning) {
      const began = performance.now();
      await append(log, 20, number);
      waits.push(performance.now() - began);
      number += 20;
    }
  })();
  // A query that has read the oldest table holds it.
  const reader = new Client({ connectionString: server.url });
  await reader.connect();
  await reader.query(
    "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM countersign_entries",
  );
  const removing = store.remove(planned);
  // The drop waits for the query; nothing waits for the drop.
  const isWaiting = async (): Promise<boolean> =>
    (await client.query(`${WAITING} WHERE waiting.query LIKE 'DROP TABLE%'`)).rows.length > 0;
  await expect.poll(isWaiting, { interval: 10, timeout: 10_000 }).toBe(true);
  const held: unknown[] = [];
  const before = waits.length;
  while (waits.length < before + 10) {
    held.push(...(await client.query(`${WAITING} WHERE holder.query LIKE 'DROP TABLE%'`)).rows);
  }
  expect(held).toEqual([]);
  await store.planRemoval(0, Number.POSITIVE_INFINITY);
  await reader.query("COMMIT");
  await removing;
  await reader.end();
  isRunning = false;
  await appending;
  // Far more than a wait for a lock, also on a busy machine; performance.md has measured figures.
  expect(Math.max(...waits)).toBeLessThan(5_000);

  const tables = await tablesOf("dropped");
  expect(tables[0]).toEqual(["7680", expect.any(Number)]);
  const left = await client.query(
    "SELECT FROM pg_class WHERE relname ~ '^countersign_entries_[0-9]+_(0|2560|5120)$' AND relkind = 'r' AND relname LIKE (SELECT 'countersign_entries_' || log_id || '_%' FROM countersign_logs WHERE name = 'dropped')",
  );
  expect(left.rowCount).toBe(0);
  // The hashes stay, as whole tiles.
  const head = await store.head();
  expect(await storedRoot(store, head.size)).toEqual(frontierRoot(head));
  expect(await store.readTile({ level: 0, index: 3, width: 256 })).toHaveLength(256 * 32);
  expect(await store.readTile({ level: 0, index: 3, width: 100 })).toHaveLength(100 * 32);
  await log.checkpoint();
  expect(await log.proof(700)).toContain("index 700");
  expect(await store.count({})).toEqual([{ count: head.size - planned, group: [] }]);
  await expect(store.readEntries(0, 5)).rejects.toMatchObject({ code: "ERR_STORE_REMOVED" });
  await log.close();
}, 30_000);

test("removal is planned by whole tables; rows go from those that began before removal did", () => {
  const plan = (first: number, from = 0) =>
    planFirst([512, 2_560, 5_120, 9_000], 8_000, { from, first });
  expect([100, 300, 700, 2_559, 2_560, 5_000].map((first) => plan(first))).toEqual([
    0, 256, 512, 512, 2_560, 2_560,
  ]);
  expect(plan(5_900)).toBe(5_888);
  expect(plan(700, 1_024)).toBe(1_024);
  expect(planFirst([], 8_000, { from: 0, first: 700 })).toBe(512);
});

test("a table that a query keeps reading loses its rows, and is dropped with the next removal", async () => {
  const [store, log] = await fillPartitions("kept", 3);
  const reader = new Client({ connectionString: server.url });
  await reader.connect();
  await reader.query("BEGIN; SELECT count(*) FROM countersign_entries");
  await store.remove(2_560);
  expect((await tablesOf("kept"))[0]).toEqual(["2560", 2_560]);
  const isThere = async (): Promise<unknown> =>
    (
      await client.query(
        "SELECT to_regclass('countersign_entries_' || log_id || '_0') IS NOT NULL AS found FROM countersign_logs WHERE name = 'kept'",
      )
    ).rows;
  expect(await isThere()).toEqual([{ found: true }]);
  await expect(store.readEntries(0, 5)).rejects.toMatchObject({ code: "ERR_STORE_REMOVED" });
  expect(await store.first()).toBe(2_560);
  expect(await store.count({})).toEqual([{ count: 5_120, group: [] }]);
  await reader.query("COMMIT");
  await reader.end();
  await store.remove(5_120);
  expect(await tablesOf("kept")).toEqual([["5120", 2_560]]);
  expect(await isThere()).toEqual([{ found: false }]);
  await log.close();
}, 30_000);

test("two gateways that remove the same entries at once remove them once", async () => {
  const [store, log] = await fillPartitions("twice", 3);
  const other = await open("twice");
  await Promise.all([store.remove(5_120), other.remove(5_120)]);
  expect(await tablesOf("twice")).toEqual([["5120", 2_560]]);
  expect(await other.first()).toBe(5_120);
  expect(await other.count({})).toEqual([{ count: 2_560, group: [] }]);
  expect(await store.readTile({ level: 0, index: 19, width: 256 })).toHaveLength(256 * 32);
  await Promise.all([log.close(), other.close()]);
});

test("a gateway that is cut off between two steps of a removal leaves a log that the next removal completes", async () => {
  const [store, log] = await fillPartitions("cut", 2);
  // The first number has moved for a part, and the table is still there.
  await store.remove(1_024);
  expect((await tablesOf("cut"))[0]).toEqual(["0", 1_536]);
  await client.query("DELETE FROM countersign_leaf_tiles WHERE tile >= 4");
  await store.remove(2_560);
  expect((await tablesOf("cut"))[0]).toEqual(["2560", 2_560]);
  for (const index of [0, 3, 4, 9]) {
    expect(await store.readTile({ level: 0, index, width: 256 })).toHaveLength(256 * 32);
  }
  await client.query("UPDATE countersign_leaf_tiles SET hashes = ''::bytea WHERE tile = 4");
  await expect(store.readTile({ level: 0, index: 4, width: 256 })).rejects.toMatchObject({
    code: "ERR_STORE_CORRUPT",
    facts: { seq: 1_024 },
  });
  await log.close();
});
