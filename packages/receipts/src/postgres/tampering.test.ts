import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createLogSeal } from "../log/seal.js";
import { fill, logOver, ORIGIN } from "../testing/contract-log.js";
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

const seal = createLogSeal(new Uint8Array(32).fill(9), ORIGIN);
const open = (log: string) => openPostgresStore({ url: server.url, log });

test("entries removed from under a running log are detected, even if an older seal is restored", async () => {
  const store = await open("taken");
  const log = await logOver(store, { seal });
  await fill(log, 3);
  const { rows } = await client.query(
    "SELECT size, frontier, seal FROM countersign_logs WHERE name = 'taken'",
  );
  const [older] = rows as { size: string; frontier: Buffer; seal: Buffer }[];
  await fill(log, 3, 3);
  await client.query(
    "UPDATE countersign_logs SET size = $1, frontier = $2, seal = $3 WHERE name = 'taken'",
    [older?.size, older?.frontier, older?.seal],
  );
  await expect(log.append(draftOf(9))).rejects.toMatchObject({ code: "ERR_LOG_INCONSISTENT" });
  await store.close();
});

test("an entry changed after the last checkpoint prevents the log from opening, even with tree and seal unchanged", async () => {
  const store = await open("changed");
  const log = await logOver(store, { seal });
  await fill(log, 1);
  await log.checkpoint();
  await fill(log, 3, 1);
  await store.close();
  await client.query(
    "UPDATE countersign_entries SET body = convert_to(replace(convert_from(body, 'UTF8'), 'run_0', 'run_9'), 'UTF8') WHERE seq = 2",
  );
  const again = await open("changed");
  await expect(logOver(again, { seal })).rejects.toMatchObject({
    code: "ERR_STORE_CORRUPT",
    facts: { seq: 2 },
  });
  await again.close();
});

test("a row with a too large checkpoint size is reported when the next checkpoint is stored", async () => {
  const store = await open("sizes");
  const log = await logOver(store, { seal });
  await fill(log, 3);
  await log.checkpoint();
  await client.query("UPDATE countersign_logs SET checkpoint_size = 1000000 WHERE name = 'sizes'");
  await fill(log, 1, 3);
  await expect(log.checkpoint()).rejects.toMatchObject({ code: "ERR_STORE_CORRUPT" });
  await store.close();
});

test("a hash that is not 32 bytes is damage at its entry, even if the next one compensates for it", async () => {
  const store = await open("short");
  await fill(await logOver(store), 258);
  const setLeaf = (seq: number, sql: string): Promise<unknown> =>
    client.query(
      `UPDATE countersign_entries SET leaf = ${sql} WHERE seq = ${seq} AND log_id = (SELECT log_id FROM countersign_logs WHERE name = 'short')`,
    );
  await setLeaf(7, "substring(leaf FROM 2)");
  await setLeaf(8, "leaf || decode('00', 'hex')");
  await expect(store.readTile({ level: 0, index: 0, width: 256 })).rejects.toMatchObject({
    code: "ERR_STORE_CORRUPT",
    facts: { seq: 7 },
  });
  await expect(store.readTile({ level: 0, index: 1, width: 2 })).resolves.toHaveLength(64);
  await client.query(
    "UPDATE countersign_hashes SET hash = ''::bytea WHERE level = 1 AND log_id = (SELECT log_id FROM countersign_logs WHERE name = 'short')",
  );
  await expect(store.readTile({ level: 1, index: 0, width: 1 })).rejects.toMatchObject({
    code: "ERR_STORE_CORRUPT",
    facts: { seq: 0 },
  });
  await store.close();
});
