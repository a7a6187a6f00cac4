import { copyFile, rm } from "node:fs/promises";
import { startPostgres } from "@countersign/testkit";
import type { RunningPostgres } from "@countersign/testkit";
import { retentionReceipt } from "@countersign/receipts/log";
import type { EntryDraft } from "@countersign/receipts/log";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSampleGateway, sampleDraft } from "./testing/sample-gateway.js";
import type { SampleGateway } from "./testing/sample-gateway.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

/** An empty database of the server. */
async function createDatabase(name: string): Promise<string> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return url.href;
}

function announcement(number: number, first: number): EntryDraft {
  const draft = sampleDraft(number);
  const { denial_reason: _, ...receipt } = draft.receipt;
  return {
    ...draft,
    receipt: { ...receipt, allowed: true, ...retentionReceipt(first) },
  } as EntryDraft;
}

/** Removes old entries as a gateway does, with or without its announcement. */
async function removeOld(gateway: SampleGateway, isAnnounced: boolean): Promise<number> {
  const store = await gateway.openStore();
  // An embedded store starts a new file here.
  await store.planRemoval(600, 600);
  const log = await gateway.open(store);
  await log.appendAll(Array.from({ length: 600 }, (_, at) => sampleDraft(600 + at)));
  await log.checkpoint();
  const first = await store.planRemoval(1_000, 0);
  await log.append(isAnnounced ? announcement(1_200, first) : sampleDraft(1_200));
  await log.checkpoint();
  await store.remove(first);
  await log.close();
  return first;
}

describe.each(["embedded", "PostgreSQL"])("%s store", (kind) => {
  test.each([true, false])(
    "receipts verify accepts entries that are missing only if the removal was announced (%s)",
    async (isAnnounced) => {
      const database =
        kind === "PostgreSQL" ? await createDatabase(`announced_${isAnnounced}`) : undefined;
      const gateway = createSampleGateway(database);
      try {
        await gateway.run("keys", "new");
        await gateway.append(0, 600);
        expect(await removeOld(gateway, isAnnounced)).toBe(768);
        await gateway.run("receipts", "export", gateway.path("export"));
        await copyFile(gateway.path("export/checkpoint"), gateway.path("keys/last-checkpoint"));
        const live = await gateway.run("receipts", "verify");
        const exported = await gateway.run("receipts", "verify", gateway.path("export"));
        expect([live.code, exported.code]).toEqual(isAnnounced ? [0, 0] : [1, 1]);
        const sentence = isAnnounced
          ? "entries 0 to 767 were removed because of their age; entry 1200 announces it"
          : "does not announce it";
        expect(live.out).toContain(sentence);
        expect(exported.out).toContain(sentence);
        // A removed receipt is not found; the proof of its number still exists.
        expect(await gateway.run("receipts", "show", "5")).toMatchObject({
          code: 2,
          out: expect.stringContaining("entries before 768 were removed"),
        });
        expect(await gateway.run("receipts", "list", "--json")).toMatchObject({ code: 0 });
        await rm(gateway.path("export"), { recursive: true });
      } finally {
        gateway.remove();
      }
    },
    60_000,
  );
});
