import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fill, logOver } from "../testing/contract-log.js";
import { draftOf } from "../testing/drafts.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.stop());

const FIRST = "the first key\n";

test("a writer that was away while the key was rotated appends nothing more", async () => {
  const store = await openPostgresStore({ url: server.url, log: "rotated" });
  expect(await store.writeKeyHistory(FIRST)).toBe(true);
  const log = await logOver(store);
  await fill(log, 2);

  const rotating = await openPostgresStore({ url: server.url, log: "rotated" });
  expect(await rotating.writeKeyHistory(`${FIRST}the second key\n`)).toBe(true);
  await rotating.close();

  await expect(log.append(draftOf(2))).rejects.toMatchObject({ code: "ERR_STORE_KEY_RETIRED" });
  expect((await store.head()).size).toBe(2);
  await log.close().catch(() => undefined);
});

test("a writer that knows the new history goes on, and so does one that asked for none", async () => {
  const first = await openPostgresStore({ url: server.url, log: "known" });
  await first.writeKeyHistory(FIRST);
  await first.close();
  const knowing = await openPostgresStore({ url: server.url, log: "known" });
  expect(await knowing.readKeyHistory()).toBe(FIRST);
  const log = await logOver(knowing);
  await fill(log, 1);
  await log.close();
  const asking = await openPostgresStore({ url: server.url, log: "known" });
  const other = await logOver(asking);
  await other.append(draftOf(1));
  await other.close();
});
