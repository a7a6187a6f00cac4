import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { decodeEntry } from "../entry/decode-entry.js";
import { storedRoot } from "../log/checkpoints.js";
import { frontierRoot } from "../merkle/tree.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { createFaultyDisk } from "../testing/faulty-disk.js";
import type { Fault, FaultyDisk } from "../testing/faulty-disk.js";
import { openBundles } from "./open-bundles.js";
import type { BundleFiles } from "./bundle-files.js";

const SIZE = 900;

function storeOf(files: BundleFiles): ReceiptStore {
  return {
    ...files,
    append: files.append.bind(files),
    head: () => files.head(),
    readTile: (tile: Parameters<BundleFiles["readTile"]>[0]) => files.readTile(tile),
    readEntries: (start: number, end: number) => files.readEntries(start, end),
    readCheckpoint: () => files.readCheckpoint(),
    writeCheckpoint: (text: string, size: number) => files.writeCheckpoint(text, size),
    close: () => files.close(),
  } as unknown as ReceiptStore;
}

async function fillLog(directory: string): Promise<void> {
  const files = await openBundles({ directory, segmentBytes: 40_000 });
  const log = await logOver(storeOf(files));
  await fill(log, SIZE);
  await log.close();
}

/** Removes everything that a checkpoint of this process covers, in two steps like the store. */
async function remove(directory: string, disk?: FaultyDisk): Promise<number> {
  const files = await openBundles({ directory, ...(disk === undefined ? {} : { disk }) });
  try {
    await (await logOver(storeOf(files))).checkpoint();
    const first = await files.planRemoval(SIZE, 0);
    await files.beginRemoval(first);
    await files.finishRemoval();
    return first;
  } finally {
    await files.close().catch(() => undefined);
  }
}

/** Opens the log again, appends, and checks the tree and every entry that is left. */
async function check(directory: string): Promise<number> {
  const files = await openBundles({ directory });
  const log = await logOver(storeOf(files));
  try {
    const { size } = await files.head();
    await fill(log, 3, size);
    const head = await files.head();
    expect(head.size).toBe(size + 3);
    expect(await storedRoot(storeOf(files), head.size)).toEqual(frontierRoot(head));
    const first = await files.first();
    const entries = await files.readEntries(first, head.size);
    expect(entries.map((bytes) => decodeEntry(bytes).seq)).toEqual(
      entries.map((_, at) => first + at),
    );
    return first;
  } finally {
    await log.close();
  }
}

const filled = await mkdtemp(join(tmpdir(), "countersign-removal-"));
afterAll(() => rm(filled, { recursive: true, force: true }));
await fillLog(filled);

const { expected, points } = await withDirectory(async (directory) => {
  await cp(filled, directory, { recursive: true });
  const disk = createFaultyDisk(0, "lost");
  const before = disk.points;
  return { expected: await remove(directory, disk), points: disk.points - before };
});

const FAULTS: readonly Fault[] = ["lost", "persisted", "torn", "full"];
test.each(Array.from({ length: points }, (_, at) => at + 1))(
  "a removal that fails at write point %i leaves a whole log",
  async (point) => {
    await withDirectory(async (directory) => {
      await cp(filled, directory, { recursive: true });
      const fault = FAULTS[point % FAULTS.length] ?? "lost";
      await remove(directory, createFaultyDisk(point, fault)).catch(() => undefined);
      expect([0, expected]).toContain(await check(directory));
    });
  },
);

test("a log that lost its sealed state starts from its first file; one that lost the removal's is damaged", async () => {
  await withDirectory(async (directory) => {
    await cp(filled, directory, { recursive: true });
    const first = await remove(directory);
    await rm(join(directory, "sealed"));
    expect(await check(directory)).toBe(first);
    const files = await openBundles({ directory, rebuild: true });
    expect((await files.head()).size).toBe(SIZE + 3);
    await files.close();
    await rm(join(directory, "removed"));
    await rm(join(directory, "sealed"));
    await expect(openBundles({ directory })).rejects.toMatchObject({ code: "ERR_STORE_CORRUPT" });
  });
});
