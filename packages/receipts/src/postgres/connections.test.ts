import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openConnections } from "./connections.js";
import type { Connections } from "./connections.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.thaw();
  await server.stop();
});

const ask = ({ withClient }: Connections): Promise<unknown> =>
  withClient(async (client) => (await client.query("SELECT 1 AS one")).rows);

/** Whether a query failed. */
function isTold(question: Promise<unknown>): Promise<boolean> {
  return question.then(
    () => false,
    () => true,
  );
}

/** Waits until an operation succeeds again. */
async function untilDone(work: () => Promise<unknown>): Promise<void> {
  await expect.poll(() => work().then(Boolean, () => false), { timeout: 10_000 }).toBe(true);
}

test("a database that stops responding repeatedly is reported each time, and recovers", async () => {
  const connections = openConnections({ url: server.url, connections: 2, answerMs: 300 });
  for (let round = 0; round < 3; round += 1) {
    await ask(connections);
    await server.freeze();
    const asked = [1, 2, 3].map(() => ask(connections));
    const told = await Promise.allSettled(asked);
    expect(told.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    await expect(ask(connections)).rejects.toThrow("does not answer");
    await server.thaw();
    await untilDone(() => ask(connections));
  }
  await connections.close();
});

test("a query without a timeout does not keep connections to a frozen database open", async () => {
  const connections = openConnections({ url: server.url, connections: 2 });
  await ask(connections);
  await server.freeze();
  const asked = isTold(ask(connections));
  await new Promise((resolve) => setTimeout(resolve, 50));
  await connections.close();
  expect(await asked).toBe(true);
  await server.thaw();
}, 20_000);

test("a waiting query fails when an append finds that the database does not respond", async () => {
  const store = await openPostgresStore({ url: server.url, log: "silent", answerMs: 300 });
  await store.head();
  await store.readCheckpoint();
  await server.freeze();
  const asked = isTold(store.readCheckpoint());
  await expect(store.head()).rejects.toThrow();
  expect(await asked).toBe(true);
  await server.thaw();
  await untilDone(() => store.head());
  expect(await store.readCheckpoint()).toBeUndefined();
  await store.close();
});
