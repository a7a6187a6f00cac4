import { join } from "node:path";
import { createSigner } from "@countersign/core/sign";
import type { RunningPostgres } from "@countersign/testkit";
import { startPostgres } from "@countersign/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createNoteKey } from "../note/vkey.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver, noteKey, ORIGIN } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { startWitness } from "../testing/running-witness.js";
import { Witnessing } from "../witness/witnessing.js";
import { openPostgresStore } from "./open-postgres-store.js";

let server: RunningPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const logKey = createNoteKey(ORIGIN, createSigner(noteKey).publicKey);

test("of gateways on one database one submits, all know the witnessed checkpoint, and another takes over", async () => {
  await withDirectory(async (folder) => {
    const witness = await startWitness({ directory: join(folder, "w"), logs: [logKey] });
    const open = (): Promise<ReceiptStore> => openPostgresStore({ url: server.url, log: ORIGIN });
    const stores = [await open(), await open(), await open()];
    const logs = [];
    for (const store of stores) logs.push(await logOver(store));
    const services = stores.map(
      (store, index) =>
        new Witnessing({
          store,
          logKey,
          witnesses: [witness.address],
          threshold: 1,
          intervalMs: 100,
          timeoutMs: 200,
          holder: `gateway-${index}`,
          clock: Date.now,
        }),
    );
    let size = 0;
    for (let round = 0; round < 4; round += 1) {
      await Promise.all(logs.map((log) => fill(log, 10, round * 30)));
      size += 30;
      for (const log of logs) await log.checkpoint();
      await Promise.all(services.map((service) => service.run()));
      await Promise.all(services.map((service) => service.run()));
    }
    const submitters = services.filter((service) =>
      service.status().some(({ submissions }) => submissions > 0),
    );
    expect(submitters.length).toBe(1);
    expect(services.map(({ witnessed }) => witnessed?.size)).toEqual([size, size, size]);
    // The holder stops; its lease ends, and another gateway goes on from what is stored.
    await submitters[0]?.close();
    const rest = services.filter((service) => service !== submitters[0]);
    await fill(logs[0] as (typeof logs)[number], 5, 900);
    for (const log of logs) await log.checkpoint();
    const deadline = Date.now() + 20_000;
    while (Date.now() < deadline && rest[0]?.witnessed?.size !== size + 5) {
      await Promise.all(rest.map((service) => service.run()));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await Promise.all(rest.map((service) => service.run()));
    expect(rest.map(({ witnessed }) => witnessed?.size)).toEqual([size + 5, size + 5]);
    const took = rest.filter((service) => service.status().some((one) => one.submissions > 0));
    expect(took.length).toBe(1);
    expect(took[0]?.status()[0]?.failures).toBe(0);
    for (const service of rest) await service.close();
    for (const log of logs) await log.close();
    await witness.close();
  });
}, 60_000);

test("attestations change in one step while several gateways change them, and a reader of an older database finds none", async () => {
  const stores = await Promise.all(
    [1, 2, 3].map(() => openPostgresStore({ url: server.url, log: "counted" })),
  );
  const count = (store: ReceiptStore): Promise<void> =>
    store.updateAttestations((stored) => String(Number(stored ?? "0") + 1));
  await Promise.all(Array.from({ length: 30 }, (_, at) => count(stores[at % 3] as ReceiptStore)));
  expect(await stores[0]?.readAttestations()).toBe("30");
  const [one, other] = stores;
  expect(await one?.leaseAttesting("one", 60_000)).toBe(true);
  expect(await other?.leaseAttesting("other", 60_000)).toBe(false);
  expect(await one?.leaseAttesting("one", 1)).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await other?.leaseAttesting("other", 60_000)).toBe(true);
  for (const store of stores) await store.close();
});
