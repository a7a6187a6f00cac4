import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeEntry } from "../entry/decode-entry.js";
import { columnValues } from "../query/columns.js";
import { ENTRY_COLUMNS } from "../query/query.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver } from "../testing/contract-log.js";
import { draftOf } from "../testing/drafts.js";
import { columnText } from "./column-text.js";
import { openPostgresStore } from "./open-postgres-store.js";
import { OLD_COLUMNS } from "./schema.js";

let server: RunningPostgres;
let pool: Pool;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const ENTRIES = 5_000;
/** The members that entries of the oldest databases lack. */
const YOUNGER = ["principal", "client_address", "tool", "path"];

const open = (log: string, readOnly = false) =>
  openPostgresStore({ url: server.url, log, readOnly });

/** Turns the tables into those of version 0.1: columns and indexes in the table of entries. */
async function makeOlder(): Promise<void> {
  pool = new Pool({ connectionString: server.url, max: 1 });
  const columns = ENTRY_COLUMNS.map((name) => `${name} ${name === "allowed" ? "boolean" : "text"}`);
  const added = ["received_at bigint", "receipt_id text", ...columns].map(
    (column) => `ADD COLUMN ${column}`,
  );
  await pool.query(`DROP TABLE countersign_spans, countersign_kinds, countersign_prefixes;
    ALTER TABLE countersign_logs DROP COLUMN indexed;
    ALTER TABLE countersign_entries ${added.join(", ")}`);
  const { rows } = await pool.query<{ log_id: number; body: Buffer }>(
    "SELECT log_id, body FROM countersign_entries",
  );
  const entries = rows.map(({ log_id, body }) => ({ log_id, entry: decodeEntry(body) }));
  const values = ENTRY_COLUMNS.map((_, at) =>
    entries.map(({ entry }) => {
      const value = columnValues(entry)[at] ?? null;
      return typeof value === "string" ? columnText(value) : value;
    }),
  );
  await pool.query(
    `UPDATE countersign_entries AS entry SET ${OLD_COLUMNS.map((name) => `${name} = old.${name}`).join(", ")}
     FROM unnest($1::int[], $2::bigint[], $3::bigint[], $4::text[], ${ENTRY_COLUMNS.map((name, at) => `$${at + 5}::${name === "allowed" ? "boolean" : "text"}[]`).join(", ")})
       AS old (log_id, seq, ${OLD_COLUMNS.join(", ")}) WHERE entry.log_id = old.log_id AND entry.seq = old.seq`,
    [
      entries.map((one) => one.log_id),
      entries.map((one) => one.entry.seq),
      entries.map((one) => one.entry.received_at),
      entries.map((one) => one.entry.receipt.id),
      ...values,
    ],
  );
  await pool.query(`ALTER TABLE countersign_entries ALTER COLUMN received_at SET NOT NULL,
      ALTER COLUMN receipt_id SET NOT NULL, ALTER COLUMN allowed SET NOT NULL;
    CREATE INDEX countersign_entries_run ON countersign_entries (run_id, seq)`);
}

async function hasOldColumns(): Promise<boolean> {
  const { rows } = await pool.query(
    "SELECT FROM pg_attribute WHERE attrelid = 'countersign_entries'::regclass AND attname = 'receipt_id'",
  );
  return rows.length > 0;
}

/** The results of some queries. */
async function results(store: ReceiptStore): Promise<unknown[]> {
  return [
    (await store.query({}, { limit: 5 })).entries,
    (await store.query({ run_id: "run_7", allowed: false })).entries,
    (await store.query({ id: `agui-${draftOf(77).receipt.event_id}` })).entries,
    (await store.query({ q: "USER-1" }, { order: "oldest", limit: 3 })).entries,
    await store.count({}),
    await store.count({ by: ["principal", "allowed"], bucket: 1_000, filter: { tool: "Send_2" } }),
  ];
}

test("a database of an older version is read as it is; its next writer converts it while appends continue", async () => {
  const logs = await Promise.all(["older", "other"].map(async (name) => logOver(await open(name))));
  await fill(logs[0] as never, ENTRIES);
  await fill(logs[1] as never, 10);
  const before = await open("older");
  const expected = await results(before);
  await Promise.all([...logs.map((log) => log.close()), before.close()]);
  await makeOlder();

  const reader = await open("older", true);
  expect(await results(reader)).toEqual(expected);
  expect(await reader.findMismatchedRow?.(0, 256)).toBeUndefined();
  await pool.query("UPDATE countersign_entries SET rule = 'other' WHERE seq = 130");
  expect(await reader.findMismatchedRow?.(0, 256)).toBe(130);
  expect(await hasOldColumns()).toBe(true);

  // Appends do not wait for the conversion, and every query sees them.
  const store = await open("older");
  const log = await logOver(store);
  await fill(log, 20, ENTRIES);
  expect(await store.count({})).toEqual([{ count: ENTRIES + 20, group: [] }]);
  await fill(log, 20, ENTRIES + 20);
  const [, ...others] = await results(store);
  expect(others.slice(0, 3)).toEqual(expected.slice(1, 4));
  for (let start = 0; start < ENTRIES + 40; start += 256) {
    expect(await store.findMismatchedRow?.(start, start + 256)).toBeUndefined();
  }
  // Opened before the conversion, and served from both.
  expect(await reader.count({})).toEqual([{ count: ENTRIES + 40, group: [] }]);
  await reader.close();
  // The other log of this database still needs the columns.
  expect(await hasOldColumns()).toBe(true);
  const other = await open("other");
  expect(await other.count({})).toEqual([{ count: 10, group: [] }]);
  await expect.poll(hasOldColumns).toBe(false);
  await fill(log, 1, ENTRIES + 40);
  expect(await store.count({})).toEqual([{ count: ENTRIES + 41, group: [] }]);
  await Promise.all([log.close(), other.close()]);
  await pool.end();
});

test("the oldest databases lack columns, which count as absent", async () => {
  const first = await logOver(await open("oldest"));
  await first.appendAll([4, 9, 19].map((number) => draftOf(number)));
  await first.close();
  await makeOlder();
  for (const column of YOUNGER) {
    await pool.query(`ALTER TABLE countersign_entries DROP COLUMN ${column}`);
  }
  const reader = await open("oldest", true);
  expect((await reader.query({})).entries).toHaveLength(3);
  expect((await reader.query({ principal: "user-1" })).entries).toEqual([]);
  expect(await reader.count({ by: ["principal"] })).toEqual([{ count: 3, group: [null] }]);
  expect(await reader.findMismatchedRow?.(0, 3)).toBeUndefined();
  await reader.close();

  const log = await logOver(await open("oldest"));
  await log.append(draftOf(10));
  const store = await open("oldest");
  const [found] = (await store.query({ principal: "user-1" })).entries;
  expect(found).toMatchObject({ seq: 3, principal: "user-1", client_address: "192.0.2.3" });
  await Promise.all([store.close(), log.close()]);
  await pool.end();
});
