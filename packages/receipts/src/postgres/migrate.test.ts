import { rm } from "node:fs/promises";
import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { bundleForNode } from "../testing/bundle.js";
import { checkWholeLog } from "../testing/check-log.js";
import { fill, logOver } from "../testing/contract-log.js";
import { runAppender } from "../testing/run-appender.js";
import { openConnections } from "./connections.js";
import { migrate } from "./migrate.js";
import type { Migration } from "./migrate.js";
import { openPostgresStore } from "./open-postgres-store.js";
import { LOG_MIGRATIONS } from "./schema.js";

let server: RunningPostgres;
let client: Client;
let appender: URL;
beforeAll(async () => {
  [server, appender] = await Promise.all([startPostgres(), bundleForNode("testing/appender.ts")]);
  client = new Client({ connectionString: server.url });
  await client.connect();
}, 60_000);
afterAll(async () => {
  await client.end();
  await server.stop();
  await rm(appender);
});
beforeEach(async () => {
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
});

const open = () => openPostgresStore({ url: server.url, log: "shared" });

/** Columns and indexes of all tables but the partitions. */
async function tables(): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT table_name || '.' || column_name || ' ' || data_type AS name FROM information_schema.columns
       WHERE table_schema = 'public' AND table_name !~ '_[0-9]+$'
     UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename !~ '_[0-9]+$' ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

const version = async (): Promise<unknown> =>
  (await client.query("SELECT area, version, least FROM countersign_schema")).rows;

/** Passes everything on until a client sends `word` for the `count`th time; that stays here. */
async function startHoldingProxy(word: string, count: number) {
  const target = new URL(server.url);
  const [port, host] = [Number(target.port), target.hostname];
  const sockets = new Set<Socket>();
  let seen = 0;
  let reached: () => void = () => undefined;
  const isReached = new Promise<void>((resolve) => (reached = resolve));
  const proxy = createServer((socket) => {
    const upstream = connect(port, host);
    for (const one of [socket, upstream]) {
      sockets.add(one);
      one.on("error", () => undefined);
      one.on("close", () => [socket, upstream].map((other) => other.destroy()));
    }
    socket.on("data", (chunk) => {
      if (chunk.includes(word)) seen += 1;
      if (seen >= count) reached();
      else upstream.write(chunk);
    });
    upstream.pipe(socket);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  target.port = String((proxy.address() as AddressInfo).port);
  return {
    url: target.href,
    isReached,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}

test("a gateway that is killed in any step of the migration leaves a database that the next one completes", async () => {
  await (await open()).close();
  const all = await tables();
  await client.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
  let kills = 0;
  for (; ; kills += 1) {
    // The first step of this start is committed, the second is not.
    const proxy = await startHoldingProxy("INSERT INTO countersign_schema", 2);
    const gateway = runAppender(appender, "postgres", proxy.url, "0", "1");
    const isKilled = await Promise.race([
      proxy.isReached.then(() => true),
      gateway.ended.then(() => false),
    ]);
    gateway.child.kill("SIGKILL");
    await gateway.ended;
    await proxy.close();
    if (!isKilled) break;
  }
  expect(kills).toBe(LOG_MIGRATIONS.length - 1);
  expect(await tables()).toEqual(all);
  const store = await open();
  expect(await checkWholeLog(store)).toHaveLength(1);
  await store.close();
}, 60_000);

test("gateways that start together on an empty database make the tables once, and append to one log", async () => {
  const writers = [0, 1, 2].map((writer) =>
    runAppender(appender, "postgres", server.url, String(writer * 1_000), "50"),
  );
  expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  const store = await open();
  expect(await checkWholeLog(store)).toHaveLength(150);
  expect(await version()).toEqual([{ area: "log", version: LOG_MIGRATIONS.length, least: 0 }]);
  await store.close();
}, 30_000);

test("a lost table is made again; a start on complete tables waits for no write", async () => {
  await (await open()).close();
  const all = await tables();
  for (const table of ["kinds", "spans", "prefixes", "leaf_tiles", "foreign", "schema"]) {
    await client.query(`DROP TABLE countersign_${table}`);
    await (await open()).close();
    expect(await tables(), table).toEqual(all);
  }
  await client.query(
    "BEGIN; UPDATE countersign_logs SET size = size; LOCK TABLE countersign_schema IN ROW EXCLUSIVE MODE; LOCK TABLE countersign_entries IN ROW EXCLUSIVE MODE",
  );
  await (await open()).close();
  await client.query("ROLLBACK");
});

test("a lost partition is not written to again, and the log says what is missing", async () => {
  const log = await logOver(await open());
  await fill(log, 300);
  await log.checkpoint();
  await log.close();
  await client.query("DROP TABLE countersign_entries_1_0");
  const store = await open();
  await expect(logOver(store)).rejects.toMatchObject({ code: "ERR_STORE_RANGE" });
  expect((await client.query("SELECT part FROM countersign_logs")).rows).not.toEqual([
    { part: "0" },
  ]);
  await store.close();
});

test("a gateway refuses tables that a newer version changed for itself, also to read them", async () => {
  await (await open()).close();
  await client.query("UPDATE countersign_schema SET version = 99, least = 98 WHERE area = 'log'");
  for (const readOnly of [false, true]) {
    await expect(
      openPostgresStore({ url: server.url, log: "shared", readOnly }),
    ).rejects.toMatchObject({
      code: "ERR_STORE_NEWER",
      message: expect.stringContaining("Fix: update this gateway") as string,
      facts: { area: "log", version: 99, known: LOG_MIGRATIONS.length },
    });
  }
  // A newer version whose tables this one may use.
  await client.query("UPDATE countersign_schema SET least = 3 WHERE area = 'log'");
  await (await open()).close();
  expect(await version()).toEqual([{ area: "log", version: 99, least: 3 }]);
});

test("a change that excludes older programs is stored with the version; the programs before it are refused", async () => {
  const connections = openConnections({ url: server.url, connections: 1 });
  const run = (migrations: readonly Migration[]): Promise<void> =>
    migrate({
      area: "log",
      migrations,
      inTransaction: (work) =>
        connections.withClient(async (own) => {
          await own.query("BEGIN");
          const value = await work(own);
          await own.query("COMMIT");
          return value;
        }),
    });
  const first: Migration = { adds: "one.a", sql: "CREATE TABLE one (a int)" };
  const second: Migration = {
    adds: "one.b",
    sql: "ALTER TABLE one ADD COLUMN b int",
    excludesOlder: true,
  };
  await run([first]);
  await run([first, second]);
  expect(await version()).toEqual([{ area: "log", version: 2, least: 2 }]);
  await expect(run([first])).rejects.toMatchObject({ code: "ERR_STORE_NEWER" });
  // A statement that does not make its column is reported instead of repeated for ever.
  await expect(run([first, second, { adds: "one.c", sql: "SELECT 1" }])).rejects.toThrow("one.c");
  await connections.close();
});
