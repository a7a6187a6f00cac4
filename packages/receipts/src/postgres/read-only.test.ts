import { createSigner, generateKey } from "@countersign/core/sign";
import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { Pool } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLog } from "../log/open-log.js";
import { readEntriesFrom } from "../log/read-entries-from.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import { draftOf } from "../testing/drafts.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function tables(): Promise<number> {
  const pool = new Pool({ connectionString: server.url, max: 1 });
  const { rows } = await pool.query(
    "SELECT count(*)::int AS count FROM pg_tables WHERE tablename LIKE 'countersign%'",
  );
  await pool.end();
  return (rows as { count: number }[])[0]?.count ?? -1;
}

test("opening for reading creates no table and no log, and reports what is missing", async () => {
  const open = (log: string) => openPostgresStore({ url: server.url, log, readOnly: true });
  await expect(open("a")).rejects.toMatchObject({ code: "ERR_STORE_ABSENT", facts: { log: "a" } });
  expect(await tables()).toBe(0);

  const key = generateKey();
  const log = await openLog({
    store: await openPostgresStore({ url: server.url, log: "a" }),
    signer: await createInThreadSigner(key),
    checkpointSigner: createSigner(key),
    origin: "a",
    checkpointInterval: 0,
  });
  await log.appendAll([draftOf(0), draftOf(1)]);
  await log.checkpoint();
  await log.append(draftOf(2));

  await expect(open("b")).rejects.toMatchObject({ code: "ERR_STORE_ABSENT", facts: { log: "b" } });
  const reader = await open("a");
  expect((await reader.head()).size).toBe(3);
  const beyond: Uint8Array[] = [];
  for await (const entry of readEntriesFrom(reader, 2)) beyond.push(entry);
  expect(beyond).toHaveLength(1);
  await expect(reader.writeCheckpoint("x", 9)).rejects.toMatchObject({ code: "ERR_STORE_CLOSED" });
  await expect(reader.importForeign([])).rejects.toMatchObject({ code: "ERR_STORE_CLOSED" });
  await reader.close();
  await log.close();
});
