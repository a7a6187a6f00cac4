import { stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { openLog } from "../log/open-log.js";
import type { ReceiptLog } from "../log/open-log.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import type { Durability, ReceiptStore } from "../store/store.js";
import { withDirectory } from "../testing/directory.js";
import { draftOf } from "../testing/drafts.js";
import { DerivedFiles } from "./derived-files.js";
import { nodeDisk } from "./disk.js";
import type { Disk } from "./disk.js";
import { openBundles } from "./open-bundles.js";

/** A disk that records the operations on each file, and rejects hashes while `isFull`. */
function watchedDisk(): { disk: Disk; done: string[]; written: number; isFull: boolean } {
  const watched = {
    done: [] as string[],
    written: 0,
    isFull: false,
    disk: {
      ...nodeDisk,
      open: async (path, mode) => {
        const file = await nodeDisk.open(path, mode);
        const name = basename(path, ".log").replace(/^0+(?=.)/u, "");
        if (mode === "create") watched.done.push(`create ${name}`);
        return {
          ...file,
          write: (pieces, position) => {
            if (watched.isFull && path.includes("hashes")) throw new Error("no room");
            watched.written += pieces.reduce((sum, { length }) => sum + length, 0);
            return file.write(pieces, position);
          },
          sync: () => {
            watched.done.push(`sync ${name}`);
            return file.sync();
          },
        };
      },
    } satisfies Disk,
  };
  return watched;
}

async function openRelaxed(
  directory: string,
  disk: Disk,
  segmentBytes?: number,
): Promise<ReceiptLog> {
  const size = segmentBytes === undefined ? {} : { segmentBytes };
  return openLog({
    store: (await openBundles({ directory, disk, ...size })) as unknown as ReceiptStore,
    signer: await createInThreadSigner(generateKey()),
    checkpointSigner: createSigner(generateKey()),
    origin: "relaxed.example/log",
    durability: "relaxed",
    checkpointInterval: 0,
  });
}

test("a relaxed append is not written into preallocated zeros: no later write can exist without an earlier one", async () => {
  await withDirectory(async (directory) => {
    const log = await openRelaxed(directory, nodeDisk);
    const { bytes } = await log.append(draftOf(0));
    const file = join(directory, "segments", `${"0".repeat(16)}.log`);
    expect((await stat(file)).size).toBe(2 + bytes.length + 44);
    await log.close();
  });
});

test("a segment with relaxed appends is synced before the next one starts", async () => {
  await withDirectory(async (directory) => {
    const { disk, done } = watchedDisk();
    const log = await openRelaxed(directory, disk, 1);
    const { bytes } = await log.append(draftOf(0));
    await log.append(draftOf(1));
    const next = String(2 + bytes.length + 44);
    expect(done.filter((one) => one.endsWith(" 0") || one.endsWith(next))).toEqual([
      "create 0",
      "sync 0",
      `create ${next}`,
    ]);
    await log.close();
  });
});

test("a strict append also syncs the relaxed appends before it", async () => {
  await withDirectory(async (directory) => {
    const { disk, done } = watchedDisk();
    const files = await openBundles({ directory, disk });
    let durability: Durability = "strict";
    const append = files.append.bind(files);
    files.append = (build) => append(build, durability);
    const log = await openLog({
      store: files as unknown as ReceiptStore,
      signer: await createInThreadSigner(generateKey()),
      checkpointSigner: createSigner(generateKey()),
      origin: "mixed.example/log",
      checkpointInterval: 0,
    });
    await log.append(draftOf(0));
    expect(done).not.toContain("sync 0");
    durability = "relaxed";
    await log.append(draftOf(1));
    durability = "strict";
    await log.append(draftOf(2));
    expect(done).toContain("sync 0");
    await log.close();
  });
});

test("hashes that cannot be written do not prevent a closing log from syncing its entries", async () => {
  await withDirectory(async (directory) => {
    const watched = watchedDisk();
    const files = await openBundles({ directory, disk: watched.disk });
    const log = await openLog({
      store: files as unknown as ReceiptStore,
      signer: await createInThreadSigner(generateKey()),
      checkpointSigner: createSigner(generateKey()),
      origin: "relaxed.example/log",
      durability: "relaxed",
      checkpointInterval: 0,
    });
    await log.append(draftOf(0));
    watched.isFull = true;
    await expect(files.close()).rejects.toThrow("no room");
    expect(watched.done).toContain("sync 0");
  });
});

test("hashes that cannot be written are bounded, however often it is tried", async () => {
  await withDirectory(async (directory) => {
    const watched = watchedDisk();
    const hashes = join(directory, "hashes");
    await nodeDisk.makeDirectory(hashes);
    const derived = new DerivedFiles(watched.disk, hashes, "create");
    watched.isFull = true;
    let refused = 0;
    for (let time = 0; time < 1_000; time += 1) {
      await derived.add(0, [Buffer.alloc(1_024)], [], [])?.catch(() => (refused += 1));
    }
    expect(refused).toBe(1_000 - 128);
    watched.isFull = false;
    await derived.flush();
    expect(watched.written).toBe(128 << 10);
    await derived.close();
  });
});
