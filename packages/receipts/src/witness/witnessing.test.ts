import { cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { createSigner } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { decodeAttestations } from "../checkpoint/attestations.js";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import { parseNote } from "../note/note.js";
import { createNoteKey, encodeVkey } from "../note/vkey.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver, noteKey, ORIGIN } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { listenAt, startWitness } from "../testing/running-witness.js";
import type { RunningWitness } from "../testing/running-witness.js";
import { verifyCheckpoint } from "../verify/checkpoint.js";
import { Witnessing } from "./witnessing.js";
import type { WitnessingOptions, WitnessReport } from "./witnessing.js";

const logKey = createNoteKey(ORIGIN, createSigner(noteKey).publicKey);

function witnessing(
  store: ReceiptStore,
  witnesses: readonly Pick<RunningWitness, "address">[],
  more: Partial<WitnessingOptions> = {},
): { service: Witnessing; reports: WitnessReport[] } {
  const reports: WitnessReport[] = [];
  const service = new Witnessing({
    store,
    logKey,
    witnesses: witnesses.map(({ address }) => address),
    threshold: witnesses.length,
    intervalMs: 1000,
    timeoutMs: 2000,
    holder: "gateway-1",
    clock: Date.now,
    onReport: (report) => reports.push(report),
    ...more,
  });
  return { service, reports };
}

/** Runs with the directory of a store and as many witnesses as asked for. */
async function withWitnesses(
  count: number,
  use: (folder: string, witnesses: RunningWitness[]) => Promise<void>,
): Promise<void> {
  await withDirectory(async (folder) => {
    const witnesses: RunningWitness[] = [];
    try {
      for (let at = 1; at <= count; at += 1) {
        const name = `witness.example/w${at}`;
        witnesses.push(
          await startWitness({ directory: join(folder, `w${at}`), logs: [logKey], name }),
        );
      }
      await use(folder, witnesses);
    } finally {
      for (const one of witnesses) await one.close();
    }
  });
}

const openStore = (folder: string): Promise<ReceiptStore> =>
  openSqliteStore({ directory: join(folder, "log") });

const storedNote = async (store: ReceiptStore): Promise<string> =>
  decodeAttestations(await store.readAttestations()).witnessed ?? "";

test("checkpoints of a growing log are cosigned, stored, and verify with a threshold", async () => {
  await withWitnesses(3, async (folder, witnesses) => {
    const store = await openStore(folder);
    const log = await logOver(store);
    const { service, reports } = witnessing(store, witnesses, { threshold: 2 });
    for (const count of [5, 300, 1]) {
      await fill(log, count);
      await log.checkpoint();
      await service.run();
    }
    const text = await storedNote(store);
    expect(parseCheckpoint(parseNote(text).text).size).toBe(306);
    expect(parseNote(text).signatures.length).toBe(4);
    expect(service.witnessed).toMatchObject({ size: 306, isEnough: true });
    expect(service.status().map(({ size, failures }) => [size, failures])).toEqual([
      [306, 0],
      [306, 0],
      [306, 0],
    ]);
    const keys = witnesses.map(({ vkey }) => vkey);
    const verify = (threshold: number, list = keys) =>
      verifyCheckpoint(text, {
        trustedLogs: [encodeVkey(logKey)],
        witnesses: { keys: list, threshold },
      });
    expect((await verify(3)).valid).toBe(true);
    const plain = await verifyCheckpoint((await store.readCheckpoint()) ?? "", {
      trustedLogs: [encodeVkey(logKey)],
      witnesses: { keys, threshold: 1 },
    });
    expect(plain.valid).toBe(false);
    expect(reports).toEqual([]);
    await service.close();
    await log.close();
  });
});

test("a log that is rolled back together with its checkpoint and attestations is detected at the start", async () => {
  await withWitnesses(1, async (folder, [witness]) => {
    if (witness === undefined) return;
    const first = await openStore(folder);
    const log = await logOver(first);
    await fill(log, 10);
    await log.checkpoint();
    await witnessing(first, [witness]).service.run();
    await log.close();
    await cp(join(folder, "log"), join(folder, "backup"), { recursive: true });
    const second = await openStore(folder);
    const grown = await logOver(second);
    await fill(grown, 10, 10);
    await grown.checkpoint();
    const { service } = witnessing(second, [witness]);
    await service.assertUnchanged();
    await service.run();
    expect(service.witnessed?.size).toBe(20);
    await grown.close();
    await rm(join(folder, "log"), { recursive: true });
    await cp(join(folder, "backup"), join(folder, "log"), { recursive: true });
    const third = await openStore(folder);
    const rolled = witnessing(third, [witness]);
    await rolled.service.load();
    await expect(rolled.service.assertUnchanged()).rejects.toMatchObject({
      code: "ERR_WITNESS_LOG_CHANGED",
      facts: { witness: "witness.example/w1", size: 20 },
    });
    expect(rolled.reports).toMatchObject([
      { kind: "changed", claim: { size: 20, isProven: true } },
    ]);
    await third.close();
  });
});

test("a second log of the same origin and size is refused by the witness and detected", async () => {
  await withWitnesses(1, async (folder, [witness]) => {
    if (witness === undefined) return;
    for (const [name, from] of [
      ["one", 0],
      ["other", 100],
    ] as const) {
      const store = await openStore(join(folder, name));
      const log = await logOver(store);
      await fill(log, 20, from);
      await log.checkpoint();
      const { service, reports } = witnessing(store, [witness]);
      await service.run();
      if (name === "one") {
        expect(service.witnessed?.size).toBe(20);
        await expect(service.assertUnchanged()).resolves.toBeUndefined();
      } else {
        expect(service.witnessed).toBeUndefined();
        expect(reports).toMatchObject([
          { kind: "changed", claim: { size: 20, isProven: true } },
          { kind: "failing" },
        ]);
        await expect(service.assertUnchanged()).rejects.toMatchObject({
          code: "ERR_WITNESS_LOG_CHANGED",
        });
      }
      await log.close();
    }
  });
});
void listenAt;
