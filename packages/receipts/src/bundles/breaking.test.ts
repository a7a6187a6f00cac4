import { isDeepStrictEqual } from "node:util";
import { isCountersignError } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import type { AppendedEntry } from "../log/appended-entry.js";
import { openLog } from "../log/open-log.js";
import type { ReceiptLog } from "../log/open-log.js";
import { createLogSeal } from "../log/seal.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import type { ReceiptStore } from "../store/store.js";
import { checkWholeLog } from "../testing/check-log.js";
import { withDirectory } from "../testing/directory.js";
import { draftOf } from "../testing/drafts.js";
import { createFaultyDisk } from "../testing/faulty-disk.js";
import type { Fault, FaultyDisk } from "../testing/faulty-disk.js";
import { openBundles } from "./open-bundles.js";

const signer = await createInThreadSigner(generateKey());
const checkpointSigner = createSigner(generateKey());

async function openOn(directory: string, disk?: FaultyDisk): Promise<ReceiptLog> {
  const files = await openBundles({
    directory,
    segmentBytes: 9_000,
    ...(disk === undefined ? {} : { disk }),
  });
  try {
    return await openLog({
      store: files as unknown as ReceiptStore,
      signer,
      keepSigner: true,
      checkpointSigner,
      origin: "broken.example/log",
      seal: createLogSeal(new Uint8Array(32).fill(9), "broken.example/log"),
      checkpointInterval: 0,
      groupSize: 5,
      flushSize: 5,
    });
  } catch (error) {
    await files.close().catch(() => undefined);
    throw error;
  }
}

/** Runs five flushes with a checkpoint between them and collects the acknowledged entries. */
async function work(directory: string, disk: FaultyDisk, acked: AppendedEntry[]): Promise<void> {
  const log = await openOn(directory, disk);
  for (let flush = 0; flush < 5; flush += 1) {
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, (_, number) => log.append(draftOf(flush * 5 + number))),
    );
    for (const result of results) {
      if (result.status === "fulfilled") acked.push(result.value);
      else if (!isCountersignError(result.reason, "ERR_STORE_WRITE")) throw result.reason;
    }
    if (flush === 2) await log.checkpoint().catch(() => undefined);
  }
  await log.close();
}

/**
 * Acknowledged entries that the reopened log does not hold. Throws unless the log accepts new
 * entries.
 */
async function missing(directory: string, acked: AppendedEntry[]): Promise<number[]> {
  const files = await openBundles({ directory });
  const entries = await checkWholeLog(files);
  await files.close();
  // The last checkpoint still verifies, or the log would not open.
  const log = await openOn(directory);
  const next = await log.append(draftOf(999));
  await log.close();
  const absent = acked.filter((one) => !isDeepStrictEqual(entries[one.seq], one.entry));
  return [...absent.map((one) => one.seq), ...(next.seq === entries.length ? [] : [next.seq])];
}

const points = await withDirectory(async (directory) => {
  const disk = createFaultyDisk(0, "lost");
  await work(directory, disk, []);
  return disk.points;
});

test("the run that is broken below has every kind of write point", async () => {
  await withDirectory(async (directory) => {
    const disk = createFaultyDisk(0, "lost");
    await work(directory, disk, []);
    expect(new Set(disk.names)).toEqual(
      new Set([
        "makeDirectory",
        "open",
        "write",
        "writeThrough",
        "sync",
        "truncate",
        "syncDirectory",
        "replace",
      ]),
    );
    expect(points).toBeGreaterThan(25);
  });
});

test.each<Fault>(["lost", "persisted", "full"])(
  "one failed write (%s) at any point loses no acknowledged entry, and the log recovers by itself",
  async (fault) => {
    for (let point = 1; point <= points; point += 1) {
      await withDirectory(async (directory) => {
        const acked: AppendedEntry[] = [];
        await work(directory, createFaultyDisk(point, fault), acked).catch(() => undefined);
        expect(await missing(directory, acked)).toEqual([]);
      });
    }
  },
);

test.each<Fault>(["persisted", "torn"])(
  "a disk that dies (%s) at any point leaves a log that opens and holds all that was acknowledged",
  async (fault) => {
    for (let point = 1; point <= points; point += 1) {
      await withDirectory(async (directory) => {
        const acked: AppendedEntry[] = [];
        await work(directory, createFaultyDisk(point, fault, true), acked).catch(() => undefined);
        expect(await missing(directory, acked)).toEqual([]);
      });
    }
  },
);

test("after a failed append the next one succeeds on the same log", async () => {
  await withDirectory(async (directory) => {
    const quiet = createFaultyDisk(0, "lost");
    const first = await openOn(directory, quiet);
    await first.append(draftOf(0));
    const soFar = quiet.points;
    await first.close();
    await withDirectory(async (other) => {
      // The write of the second append fails after having been persisted.
      const log = await openOn(other, createFaultyDisk(soFar + 1, "persisted"));
      await log.append(draftOf(0));
      await expect(log.append(draftOf(1))).rejects.toMatchObject({
        code: "ERR_STORE_WRITE",
        facts: { cause: "EIO" },
      });
      expect((await log.append(draftOf(2))).seq).toBe(1);
      await log.close();
    });
  });
});
