import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { decodeEntry } from "../entry/decode-entry.js";
import { logOver } from "../testing/contract-log.js";
import { draftOf } from "../testing/drafts.js";
import { openPostgresStore } from "./open-postgres-store.js";
import { ADDED_COLUMNS } from "./schema.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const LOG = "older";
const open = (readOnly = false) => openPostgresStore({ url: server.url, log: LOG, readOnly });
/** Every fifth sample entry lacks the members, as entries of an older version do. */
const OLDER = [4, 9, 19].map((number) => draftOf(number));

test("a database of an older version is read as it is, and gets the missing columns from its next writer", async () => {
  const log = await logOver(await open());
  await log.appendAll(OLDER);
  await log.close();
  const pool = new Pool({ connectionString: server.url, max: 1 });
  for (const column of ADDED_COLUMNS) {
    await pool.query(`ALTER TABLE countersign_entries DROP COLUMN ${column} CASCADE`);
  }
  const reader = await open(true);
  expect((await reader.query({})).entries).toHaveLength(3);
  expect((await reader.query({ principal: "user-1" })).entries).toEqual([]);
  expect(await reader.count({ by: ["principal"] })).toEqual([{ count: 3, group: [null] }]);
  expect(await reader.findMismatchedRow?.(0, 3)).toBeUndefined();
  expect(decodeEntry((await reader.readEntries(0, 1))[0] ?? new Uint8Array()).seq).toBe(0);
  await reader.close();

  const grown = await logOver(await open());
  await grown.append(draftOf(10));
  const writer = await open();
  const [found] = (await writer.query({ principal: "user-1" })).entries;
  expect(found).toMatchObject({ seq: 3, principal: "user-1", client_address: "192.0.2.3" });
  expect((await writer.query({})).entries).toHaveLength(4);
  expect(await writer.findMismatchedRow?.(0, 4)).toBeUndefined();
  await pool.query("UPDATE countersign_entries SET principal = 'mallory' WHERE seq = 3");
  expect(await writer.findMismatchedRow?.(0, 4)).toBe(3);
  await writer.close();
  await grown.close();
  await pool.end();
});
