import { open, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { openLog } from "../log/open-log.js";
import type { LogOptions } from "../log/open-log.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import type { ReceiptStore } from "../store/store.js";
import { checkWholeLog } from "../testing/check-log.js";
import { withDirectory } from "../testing/directory.js";
import { draftOf } from "../testing/drafts.js";
import { nodeDisk } from "./disk.js";
import type { Disk } from "./disk.js";
import { openBundles } from "./open-bundles.js";
import type { BundleOptions } from "./open-bundles.js";

const key = generateKey();
const checkpointSigner = createSigner(generateKey());

async function fill(
  options: BundleOptions,
  count: number,
  more: Partial<LogOptions> = {},
): Promise<void> {
  const store = (await openBundles(options)) as unknown as ReceiptStore;
  const signer = await createInThreadSigner(key);
  const log = await openLog({
    store,
    signer,
    checkpointSigner,
    origin: "test.example/log",
    checkpointInterval: 0,
    groupSize: 17,
    flushSize: 40,
    ...more,
  }).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  await Promise.all(Array.from({ length: count }, (_, number) => log.append(draftOf(number))));
  await log.close();
}

async function reopened(options: BundleOptions): Promise<number> {
  const files = await openBundles(options);
  try {
    return (await checkWholeLog(files)).length;
  } finally {
    await files.close();
  }
}

function onlySegment(directory: string): string {
  return join(directory, "segments", `${"0".repeat(16)}.log`);
}

async function flip(path: string, position: number): Promise<void> {
  const file = await open(path, "r+");
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position);
  buffer[0] = (buffer[0] ?? 0) ^ 1;
  await file.write(buffer, 0, 1, position);
  await file.close();
}

test("a log written in many flushes and many segment files reads back whole", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory, segmentBytes: 50_000 }, 700);
    expect((await readdir(join(directory, "segments"))).length).toBeGreaterThan(5);
    expect(await reopened({ directory })).toBe(700);
    // Appending after a restart extends the same tree.
    await fill({ directory, segmentBytes: 50_000 }, 300);
    expect(await reopened({ directory })).toBe(1_000);
  });
});

test("every derived file can be lost and is rebuilt from the segments", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 600);
    for (const name of ["sealed", "hashes"]) {
      await rm(join(directory, name), { recursive: true });
      expect(await reopened({ directory })).toBe(600);
    }
    expect(await reopened({ directory, rebuild: true })).toBe(600);
  });
});

test("a tail torn at any byte of the last flush is cut back to the flush before", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 50, { groupSize: 10, flushSize: 10 });
    await rm(join(directory, "sealed"));
    const { size } = await stat(onlySegment(directory));
    // A flush is about nine kilobytes here: all cuts lie inside the last one.
    let expected = 40;
    for (const cut of [1, 43, 44, 45, 1_000, 2_000, 5_000]) {
      const file = await open(onlySegment(directory), "r+");
      const now = (await file.stat()).size;
      if (now > size - cut) await file.truncate(size - cut);
      await file.close();
      expect(await reopened({ directory })).toBe(expected);
      expected = 40;
    }
  });
});

test("a flush of which only the end reached the medium, among preallocated zeros, is cut off", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 40, { groupSize: 10, flushSize: 10 });
    const { size: before } = await stat(onlySegment(directory));
    await fill({ directory }, 10, { groupSize: 10, flushSize: 10 });
    await rm(join(directory, "sealed"));
    const { size } = await stat(onlySegment(directory));
    const file = await open(onlySegment(directory), "r+");
    await file.write(Buffer.alloc(4_096), 0, 4_096, before);
    await file.write(Buffer.alloc(64 << 10), 0, 64 << 10, size);
    await file.close();
    expect(await reopened({ directory })).toBe(40);
    expect((await stat(onlySegment(directory))).size).toBe(before);
  });
});

test("while a log is open its file is preallocated, and a reader sees only what was written", async () => {
  await withDirectory(async (directory) => {
    const store = (await openBundles({ directory })) as unknown as ReceiptStore;
    const signer = await createInThreadSigner(key);
    const log = await openLog({ store, signer, checkpointSigner, origin: "test.example/log" });
    const { bytes } = await log.append(draftOf(0));
    const { size } = await stat(onlySegment(directory));
    expect(size).toBeGreaterThan(64 << 10);
    await log.append(draftOf(1));
    expect((await stat(onlySegment(directory))).size).toBe(size);
    await log.checkpoint();
    expect(await reopened({ directory, readOnly: true })).toBe(2);
    await log.close();
    expect((await stat(onlySegment(directory))).size).toBeLessThan(4 * bytes.length);
  });
});

test("a disk without room for zeros still takes entries", async () => {
  await withDirectory(async (directory) => {
    const disk: Disk = {
      ...nodeDisk,
      open: async (path, mode) => {
        const file = await nodeDisk.open(path, mode);
        return {
          ...file,
          writeThrough: async (pieces, position) => {
            const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
            if (bytes > 64 << 10) throw Object.assign(new Error("full"), { code: "ENOSPC" });
            await file.writeThrough(pieces, position);
          },
        };
      },
    };
    await fill({ directory, disk }, 50, { groupSize: 10, flushSize: 10 });
    expect(await reopened({ directory })).toBe(50);
  });
});

test("a changed byte before a later commit is refused, named, and left as it is", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 50, { groupSize: 10, flushSize: 10 });
    await rm(join(directory, "sealed"));
    const { size } = await stat(onlySegment(directory));
    await flip(onlySegment(directory), Math.floor(size / 2));
    await expect(openBundles({ directory })).rejects.toMatchObject({
      code: "ERR_STORE_CORRUPT",
      facts: { seq: 20 },
    });
    expect((await stat(onlySegment(directory))).size).toBe(size);
  });
});

test("a commit record with a changed size is not a torn write: a later commit shows that it was acknowledged", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 20, { groupSize: 10, flushSize: 10 });
    const { size: before } = await stat(onlySegment(directory));
    await fill({ directory }, 10, { groupSize: 10, flushSize: 10 });
    await rm(join(directory, "sealed"));
    // The highest byte of the size: mark, size and root of the last commit but one end where the last flush begins.
    await flip(onlySegment(directory), before - 40);
    await expect(openBundles({ directory })).rejects.toMatchObject({
      code: "ERR_STORE_CORRUPT",
      facts: { seq: 10 },
    });
  });
});

test("a changed byte in the last flush is damage, not a torn write, once the flush was sealed, and nothing is cut", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 30, { groupSize: 10, flushSize: 10 });
    const { size } = await stat(onlySegment(directory));
    // In the root of the last commit record, in the middle of it, and in its mark.
    for (const back of [1, 20, 44]) {
      await flip(onlySegment(directory), size - back);
      await expect(openBundles({ directory })).rejects.toMatchObject({
        code: "ERR_STORE_CORRUPT",
        facts: { seq: 20 },
      });
      expect((await stat(onlySegment(directory))).size).toBe(size);
      await flip(onlySegment(directory), size - back);
    }
    expect(await reopened({ directory })).toBe(30);
  });
});

test("a damaged position of a bundle is reported as damage, whatever its value", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 300);
    for (const at of [0, 4, 8]) {
      await flip(join(directory, "hashes", "bundles"), at);
      const files = await openBundles({ directory });
      await expect(files.readEntries(0, 256)).rejects.toMatchObject({ code: "ERR_STORE_CORRUPT" });
      await files.close();
      await flip(join(directory, "hashes", "bundles"), at);
    }
  });
});

test("a log that lost what its checkpoint covers is not signed again", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 50, { groupSize: 10, flushSize: 10 });
    await rm(join(directory, "sealed"));
    const file = await open(onlySegment(directory), "r+");
    await file.truncate((await file.stat()).size - 100);
    await file.close();
    await expect(fill({ directory }, 1)).rejects.toMatchObject({ code: "ERR_LOG_INCONSISTENT" });
  });
});

test("a failed open releases the directory", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 10);
    const disk: Disk = { ...nodeDisk, open: () => Promise.reject(new Error("not now")) };
    await expect(openBundles({ directory, disk })).rejects.toMatchObject({
      code: "ERR_STORE_READ",
    });
    expect(await reopened({ directory })).toBe(10);
  });
});

test("one directory has one writer, and readers beside it", async () => {
  await withDirectory(async (directory) => {
    await fill({ directory }, 300);
    const writer = await openBundles({ directory });
    await expect(openBundles({ directory })).rejects.toMatchObject({ code: "ERR_STORE_LOCKED" });
    expect(await reopened({ directory, readOnly: true })).toBe(300);
    await writer.close();
    expect(await reopened({ directory })).toBe(300);
  });
});
