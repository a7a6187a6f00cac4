import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSigner, generateKey } from "@countersign/core/sign";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLog } from "../log/open-log.js";
import type { ReceiptLog } from "../log/open-log.js";
import { createInThreadSigner } from "../sign/in-thread.js";
import type { ReceiptStore } from "../store/store.js";
import { checkWholeLog } from "../testing/check-log.js";
import { draftOf } from "../testing/drafts.js";
import { withDirectory } from "../testing/directory.js";
import { describeStoreContract } from "../testing/store-contract.js";
import { openSqliteStore } from "./open-sqlite-store.js";

const key = generateKey();

async function writerOf(directory: string): Promise<{ log: ReceiptLog; store: ReceiptStore }> {
  const store = await openSqliteStore({ directory, segmentBytes: 50_000 });
  const signer = await createInThreadSigner(key);
  const checkpointSigner = createSigner(key);
  const origin = "reader.example/log";
  const log = await openLog({ store, signer, checkpointSigner, origin, checkpointInterval: 0 });
  return { log, store };
}

function fill(log: ReceiptLog, from: number, to: number): Promise<unknown> {
  return Promise.all(
    Array.from({ length: to - from }, (_, number) => log.append(draftOf(from + number))),
  );
}

async function countAll(store: ReceiptStore): Promise<number | undefined> {
  return (await store.count({}))[0]?.count;
}

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "countersign-reader-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

// One store writes; another that only reads the same directory answers the queries.
describeStoreContract("embedded store, questions beside the writer", async (name) => {
  const place = join(directory, name);
  const writer = await openSqliteStore({ directory: place });
  const reader = await openSqliteStore({ directory: place, readOnly: true });
  const sealed = async (): Promise<ReceiptStore> => {
    const { size } = await writer.head();
    if (size > (await reader.head()).size) await writer.writeCheckpoint("sealed\n", size);
    return reader;
  };
  return {
    ...writer,
    query: async (filter, page) => (await sealed()).query(filter, page),
    count: async (request) => (await sealed()).count(request),
    queryForeign: async (filter) => reader.queryForeign(filter),
    async close() {
      await writer.close();
      await reader.close();
    },
  };
});

test("a reader sees what the writer sealed since, also in new files, and nothing more", async () => {
  await withDirectory(async (place) => {
    const reader = await openSqliteStore({ directory: place, readOnly: true });
    expect((await reader.head()).size).toBe(0);
    expect(await countAll(reader)).toBe(0);
    expect(await reader.queryForeign({ session_id: "s" })).toEqual([]);
    const { log } = await writerOf(place);
    for (const size of [100, 200, 300]) {
      await fill(log, size - 100, size);
      expect(await countAll(reader)).toBe(size - 100);
      const checkpoint = await log.checkpoint();
      expect(await reader.readCheckpoint()).toBe(checkpoint);
      expect((await reader.readEntries(size - 1, size)).length).toBe(1);
      expect(await countAll(reader)).toBe(size);
      expect((await reader.query({}, { limit: 1 })).entries[0]?.seq).toBe(size - 1);
      expect((await checkWholeLog(reader)).length).toBe(size);
    }
    expect((await readdir(join(place, "segments"))).length).toBeGreaterThan(2);
    await log.close();
    await reader.close();
  });
});

test("without an index, or with one that is behind, damaged or another log's, a reader gives the same results and leaves no file", async () => {
  await withDirectory(async (root) => {
    const place = join(root, "log");
    const other = join(root, "other");
    const index = join(place, "index.sqlite");
    for (const [target, count] of [
      [other, 37],
      [place, 300],
    ] as const) {
      const { log, store } = await writerOf(target);
      await fill(log, 0, count);
      await store.count({});
      await log.close();
    }
    await copyFile(index, join(root, "behind"));
    const { log } = await writerOf(place);
    await fill(log, 300, 500);
    await log.close();
    const damages = [
      () => rm(index),
      () => writeFile(index, "this is not a database, nor was it ever one"),
      () => copyFile(join(root, "behind"), index),
      () => copyFile(join(other, "index.sqlite"), index),
    ];
    for (const damage of damages) {
      for (const suffix of ["", "-wal", "-shm"]) await rm(`${index}${suffix}`, { force: true });
      await writeFile(index, "");
      await damage();
      const before = (await readdir(place)).filter((name) => !/-(?:wal|shm)$/.test(name));
      const reader = await openSqliteStore({ directory: place, readOnly: true });
      expect(await countAll(reader)).toBe(500);
      const { entries } = await reader.query({ id: `agui-${draftOf(499).receipt.event_id}` });
      expect(entries.map((entry) => entry.seq)).toEqual([499]);
      await reader.close();
      expect((await readdir(place)).filter((name) => !/-(?:wal|shm)$/.test(name))).toEqual(before);
    }
  });
});

test("a reader refuses to write", async () => {
  await withDirectory(async (place) => {
    await mkdir(join(place, "segments"));
    const reader = await openSqliteStore({ directory: place, readOnly: true });
    await expect(reader.importForeign([])).rejects.toMatchObject({ code: "ERR_STORE_CLOSED" });
    await expect(reader.writeCheckpoint("x\n", 0)).rejects.toMatchObject({
      code: "ERR_STORE_CLOSED",
    });
    await reader.close();
    await expect(reader.count({})).rejects.toMatchObject({ code: "ERR_STORE_CLOSED" });
  });
});
