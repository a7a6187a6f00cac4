import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ReceiptLog } from "../log/open-log.js";
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
const REFUSED = { code: "ERR_LOG_INCONSISTENT" };

type Gateways = {
  /** Signed six entries, of which the database has three. */
  readonly informed: ReceiptLog;
  /** Knew only these three. */
  readonly ignorant: ReceiptLog;
  close(): Promise<void>;
};

/**
 * Two gateways on a database that lost its last three entries in a failover to a lagging standby.
 */
async function failOver(log: string, isSealed = true): Promise<Gateways> {
  const open = () => openPostgresStore({ url: server.url, log });
  const stores = [await open(), await open()] as const;
  const informed = await logOver(stores[0], { seal });
  await fill(informed, 3);
  await informed.checkpoint();
  const ignorant = await logOver(stores[1], isSealed ? { seal } : {});
  const columns = ["size", "frontier", "seal", "checkpoint", "checkpoint_size"] as const;
  const { rows } = await client.query("SELECT * FROM countersign_logs WHERE name = $1", [log]);
  const standby = rows[0] as Record<(typeof columns)[number] | "log_id", unknown>;
  await fill(informed, 3, 3);
  await informed.checkpoint();
  await client.query("DELETE FROM countersign_entries WHERE log_id = $1 AND seq >= 3", [
    standby.log_id,
  ]);
  await client.query(
    `UPDATE countersign_logs SET ${columns.map((name, at) => `${name} = $${at + 2}`).join(", ")} WHERE log_id = $1`,
    [standby.log_id, ...columns.map((name) => standby[name])],
  );
  return {
    informed,
    ignorant,
    close: async () => {
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

test("entries of another gateway in the place of lost ones are not signed for, however many they are", async () => {
  const { informed, ignorant, close } = await failOver("fork");
  await expect(informed.append(draftOf(100))).rejects.toMatchObject(REFUSED);
  // As many as were lost, and more.
  for (const first of [200, 300]) {
    await fill(ignorant, 3, first);
    await expect(informed.checkpoint()).rejects.toMatchObject(REFUSED);
  }
  // Entries that this gateway appends after them do not make them valid.
  await informed.append(draftOf(400));
  await expect(informed.checkpoint()).rejects.toMatchObject(REFUSED);
  await expect(informed.proof(6)).rejects.toMatchObject(REFUSED);
  await close();
});

test("nor do they count as known because another gateway signed them", async () => {
  const { informed, ignorant, close } = await failOver("signed fork", false);
  await fill(ignorant, 5, 200);
  await ignorant.checkpoint();
  await expect(informed.append(draftOf(300))).rejects.toMatchObject(REFUSED);
  await expect(informed.checkpoint()).rejects.toMatchObject(REFUSED);
  await close();
});

test("entries of another gateway behind what was signed for are signed for by both in turn", async () => {
  const open = () => openPostgresStore({ url: server.url, log: "turns" });
  const stores = [await open(), await open()] as const;
  const logs = [await logOver(stores[0], { seal }), await logOver(stores[1], { seal })] as const;
  for (let turn = 0; turn < 6; turn += 1) {
    const log = logs[turn % 2] as ReceiptLog;
    await fill(log, 1 + turn, 10 * turn);
    await log.checkpoint();
  }
  expect((await stores[0].head()).size).toBe(21);
  await Promise.all(stores.map((store) => store.close()));
});
