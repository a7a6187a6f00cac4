import { olderDatabase, startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { MIGRATIONS } from "./migrations.js";
import { openTables } from "./connect.js";

let server: RunningPostgres;
let client: Client;
beforeAll(async () => {
  server = await startPostgres();
  client = new Client({ connectionString: server.url });
  await client.connect();
}, 60_000);
afterAll(async () => {
  await client.end();
  await server.stop();
}, 30_000);
beforeEach(async () => {
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
});

async function open(answerMs = 10_000): Promise<void> {
  const failure = (): Error => new Error("the tables could not be opened");
  const tables = await openTables({ url: server.url, connections: 1, answerMs, failure });
  await tables.close();
}

async function columns(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_name || '.' || column_name AS name FROM information_schema.columns
     WHERE table_schema = 'public' ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

/** The tables as the first release created them, one by one. */
const FIRST_TABLES = `
CREATE TABLE countersign_threads (
  ledger text NOT NULL, thread text NOT NULL, written_at bigint NOT NULL, PRIMARY KEY (ledger, thread));
CREATE TABLE countersign_facts (
  ledger text NOT NULL, thread text NOT NULL, kind text NOT NULL, id text NOT NULL, value text NOT NULL,
  PRIMARY KEY (ledger, thread, kind, id));
CREATE TABLE countersign_revocations (
  log text NOT NULL, serial bigint GENERATED ALWAYS AS IDENTITY, capability_id text NOT NULL,
  revoked_at bigint NOT NULL, PRIMARY KEY (log, capability_id));
CREATE TABLE countersign_budgets (
  log text NOT NULL, capability_id text NOT NULL, taken bigint NOT NULL, given bigint NOT NULL,
  opened bigint NOT NULL, expires_at bigint NOT NULL, PRIMARY KEY (log, capability_id));
INSERT INTO countersign_facts VALUES ('l', 't', 'message', 'm', '{}');
INSERT INTO countersign_revocations (log, capability_id, revoked_at) VALUES ('l', 'cap', 7);
INSERT INTO countersign_budgets VALUES ('l', 'cap', 9, 3, 4, 5);
`;

test("gateways that start together on an empty database create the tables once", async () => {
  await Promise.all([open(), open(), open()]);
  expect(await columns()).toEqual(expect.arrayContaining(MIGRATIONS.map(({ adds }) => adds)));
});

test("tables of the first release get what they lack, and keep their rows", async () => {
  await open();
  const all = await columns();
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  await client.query(FIRST_TABLES);
  await open();
  expect(await columns()).toEqual(all);
  const { rows } = await client.query(
    `SELECT facts.id, revocations.revoked_at, revocations.expires_at AS no_end, taken, opened
     FROM countersign_facts AS facts, countersign_revocations AS revocations, countersign_budgets`,
  );
  expect(rows).toEqual([{ id: "m", revoked_at: "7", no_end: null, taken: "9", opened: "4" }]);
});

test("a lost table is created again, whichever it is", async () => {
  await open();
  const all = await columns();
  for (const table of new Set(MIGRATIONS.map(({ adds }) => adds.split(".")[0] ?? ""))) {
    await client.query(`DROP TABLE ${table}`);
    await open();
    expect(await columns()).toEqual(all);
  }
});

test("a gateway that starts does not wait for the writes of another", async () => {
  await open();
  await client.query(
    "BEGIN; INSERT INTO countersign_facts VALUES ('l', 't', 'run', 'r', '{}'); INSERT INTO countersign_threads VALUES ('l', 't', 1)",
  );
  await expect(open()).resolves.toBeUndefined();
  await client.query("ROLLBACK");
});

test("the database of the version before keeps its rows, and gets a version; one of a newer version is refused", async () => {
  for (const statement of await olderDatabase()) await client.query(statement);
  const all = await columns();
  await open();
  const version = "SELECT version, least FROM countersign_schema WHERE area = 'gateway'";
  expect((await client.query(version)).rows).toEqual([{ version: MIGRATIONS.length, least: 0 }]);
  expect(await columns()).toEqual(expect.arrayContaining(all));
  const { rows } = await client.query(
    "SELECT facts.id, taken, written_at FROM countersign_facts AS facts, countersign_budgets, countersign_threads",
  );
  expect(rows).toEqual([{ id: "m1", taken: "9", written_at: "7" }]);
  await client.query("UPDATE countersign_schema SET version = 99, least = 99");
  await expect(open()).rejects.toMatchObject({ code: "ERR_STORE_NEWER" });
});
