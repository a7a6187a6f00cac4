import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HashedDraft } from "../entry/draft.js";
import { logOver } from "../testing/contract-log.js";
import { draftOf } from "../testing/drafts.js";
import { openPostgresStore } from "./open-postgres-store.js";

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
/** Entries of one kind. */
const same = (number: number): HashedDraft => {
  const draft = draftOf(0);
  return { ...draft, receipt: { ...draft.receipt, event_id: `evt_${number}` } };
};
const rows = async (table: string): Promise<number> =>
  Number((await client.query<{ count: string }>(`SELECT count(*) FROM ${table}`)).rows[0]?.count);

test("an answer is a few rows, however many deltas it has", async () => {
  const log = await logOver(await open("answer"), { flushSize: 2_000, groupSize: 1_000 });
  await log.appendAll(Array.from({ length: 500 }, (_, number) => same(number)));
  expect(await rows("countersign_spans")).toBe(1);
  expect(await rows("countersign_kinds")).toBe(1);
  await log.close();
  await client.query("TRUNCATE countersign_spans, countersign_kinds");
});

test("entries are found after an append failed, transactions were lost, or their kind was removed", async () => {
  const store = await open("lost");
  const log = await logOver(store);
  const found = async (): Promise<number> =>
    (await store.query({ session_id: "sess_0" }, { limit: 1_000 })).entries.length;
  // The append that stores the kind is rolled back.
  await client.query("ALTER TABLE countersign_spans ADD CONSTRAINT never CHECK (FALSE) NOT VALID");
  await expect(log.append(same(1))).rejects.toMatchObject({ code: "ERR_STORE_WRITE" });
  await client.query("ALTER TABLE countersign_spans DROP CONSTRAINT never");
  await log.append(same(2));
  expect(await found()).toBe(1);
  // A database that failed over has lost the kind.
  await client.query("DELETE FROM countersign_kinds");
  await log.append(same(3));
  await client.query("DELETE FROM countersign_spans WHERE last_seq = 0");
  expect(await found()).toBe(1);
  await store.close();
});

test("a kind that went with its last entries is stored again when it occurs", async () => {
  const store = await open("removed");
  const log = await logOver(store);
  await log.appendAll(Array.from({ length: 100 }, (_, number) => same(number)));
  const others = Array.from({ length: 300 }, (_, number) => draftOf(number * 6 + 1));
  await log.appendAll(others);
  await log.checkpoint();
  await store.remove(256);
  expect((await store.query({ session_id: "sess_0" })).entries).toEqual([]);
  await log.append(same(1_000));
  expect((await store.query({ session_id: "sess_0" })).entries).toHaveLength(1);
  expect(await store.count({})).toEqual([{ count: 145, group: [] }]);
  for (const start of [256, 384]) {
    expect(await store.findMismatchedRow?.(start, start + 128)).toBeUndefined();
  }
  await log.close();
});

test("a changed row of the index is damage at the first entry that it hides or adds", async () => {
  const store = await open("changed");
  const log = await logOver(store);
  const drafts = Array.from({ length: 60 }, (_, number) => draftOf(number, { run_id: "run_1" }));
  await log.appendAll(drafts);
  const { rows: logs } = await client.query<{ log_id: number }>(
    "SELECT log_id FROM countersign_logs WHERE name = 'changed'",
  );
  const id = logs[0]?.log_id;
  const changes = [
    "UPDATE countersign_kinds SET rule = 'other'",
    "DELETE FROM countersign_kinds",
    "DELETE FROM countersign_spans",
    "DELETE FROM countersign_prefixes",
    "UPDATE countersign_spans SET earliest = earliest + 1",
    "UPDATE countersign_spans SET latest = latest - 1",
    "UPDATE countersign_spans SET entries = 7",
    "UPDATE countersign_spans SET first_seq = first_seq + 1",
    "UPDATE countersign_spans SET detail = replace(detail, 'agui', 'else')",
    "UPDATE countersign_spans SET detail = '{}'",
  ];
  expect(await store.findMismatchedRow?.(0, 60)).toBeUndefined();
  for (const change of changes) {
    const tables = ["kinds", "spans", "prefixes"];
    for (const table of tables) {
      await client.query(`DROP TABLE IF EXISTS ${table}_copy`);
      await client.query(`CREATE TABLE ${table}_copy AS SELECT * FROM countersign_${table}`);
    }
    await client.query(`${change} WHERE log_id = ${id}`);
    expect(await store.findMismatchedRow?.(0, 60), change).toBeTypeOf("number");
    for (const table of tables) {
      await client.query(`TRUNCATE countersign_${table}`);
      await client.query(`INSERT INTO countersign_${table} SELECT * FROM ${table}_copy`);
    }
  }
  expect(await store.findMismatchedRow?.(0, 60)).toBeUndefined();
  await log.close();
});
