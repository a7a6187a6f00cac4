import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMovedClock, rowsOf } from "../../testing/keyed-store-contract.js";
import type { KeyedStore } from "../keyed-store.js";
import { openPostgresKeyedStore } from "./open-postgres-store.js";

const THREADS = 450;

let server: RunningPostgres;
let client: Client;
let stores: KeyedStore[];
beforeAll(async () => {
  server = await startPostgres();
  const options = { url: server.url, name: "l", clock: createMovedClock() };
  stores = [await openPostgresKeyedStore(options), await openPostgresKeyedStore(options)];
  client = new Client({ connectionString: server.url });
  await client.connect();
}, 60_000);
afterAll(async () => {
  await client.end();
  for (const store of stores) await store.close();
  await server.stop();
}, 30_000);

const first = (): KeyedStore => stores[0] as KeyedStore;
const factsLeft = async (): Promise<number> =>
  (await client.query("SELECT FROM countersign_facts")).rowCount ?? 0;

/** Adds threads that were last written long ago, with two rows each. */
async function addOldThreads(): Promise<void> {
  await client.query(
    `INSERT INTO countersign_threads SELECT 'l', 't' || n, 1 FROM generate_series(1, ${THREADS}) AS n`,
  );
  await client.query(
    `INSERT INTO countersign_facts SELECT 'l', 't' || n, 'message', id, '{}'
     FROM generate_series(1, ${THREADS}) AS n, unnest(ARRAY['a', 'b']) AS id`,
  );
}

test("many threads are removed in batches", async () => {
  await addOldThreads();
  await client.query(`
    CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF (SELECT count(*) FROM gone) > 200 THEN RAISE 'too many at once'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER refuse_many AFTER DELETE ON countersign_threads REFERENCING OLD TABLE AS gone
      FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()`);
  expect(await first().forget(10)).toBe(THREADS);
  expect(await factsLeft()).toBe(0);
});

test("gateways that remove threads concurrently remove each thread once", async () => {
  await addOldThreads();
  const counts = await Promise.all(stores.map((store) => store.forget(10)));
  expect(counts.reduce((sum, count) => sum + count)).toBe(THREADS);
  expect(await factsLeft()).toBe(0);
});

test("a thread that is written to meanwhile is kept, and the removal does not wait for it", async () => {
  await addOldThreads();
  await client.query("BEGIN");
  await client.query("UPDATE countersign_threads SET written_at = 1000 WHERE thread = 't1'");
  expect(await first().forget(10)).toBe(THREADS - 1);
  await client.query("COMMIT");
  expect(await first().forget(10)).toBe(0);
  expect(await rowsOf(first(), "t1")).toHaveLength(2);
});
