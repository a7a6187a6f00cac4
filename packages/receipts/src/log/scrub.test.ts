import { expect, test, vi } from "vitest";
import { leafHash } from "../merkle/hash.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { readFailure } from "../store/failure.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver, noteKey, ORIGIN } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { startScrub } from "./scrub.js";
import type { Damage, ScrubOptions } from "./scrub.js";

const SIZE = 600;

/** One pass over a log whose store may return changed data. */
async function scrubOnce(
  change: (store: ReceiptStore) => Partial<ReceiptStore> = () => ({}),
  options: Partial<ScrubOptions> = {},
): Promise<{ damages: Damage[]; checked: number; size: number | undefined }> {
  return withDirectory(async (directory) => {
    const store = await openSqliteStore({ directory });
    const log = await logOver(store);
    await fill(log, SIZE);
    await log.checkpoint();
    // Entries that are not signed are not checked.
    await fill(log, 3, SIZE);
    const damages: Damage[] = [];
    let checked = 0;
    let size: number | undefined;
    const scrub = startScrub({
      store: { ...store, ...change(store) },
      origin: ORIGIN,
      checkpointKey: noteKey.publicKey,
      entriesPerSecond: 1_000_000,
      onChecked: (entries) => (checked += entries),
      onDamage: (damage) => damages.push(damage),
      onPass: (entries) => (size = entries),
      ...options,
    });
    // A pass that cannot start has no end.
    await vi.waitFor(
      () => expect(size ?? damages.find(({ seq }) => seq === undefined)).toBeDefined(),
      {
        timeout: 10_000,
      },
    );
    await scrub.stop();
    await log.close();
    return { damages, checked, size };
  });
}

const flip = (bytes: Uint8Array, at: number): Uint8Array =>
  bytes.map((byte, index) => (index === at ? byte ^ 1 : byte));

/** The entries of the last bundle, the first of them changed. */
const changed = async (store: ReceiptStore): Promise<Uint8Array[]> =>
  (await store.readEntries(512, SIZE)).map((bytes, index) =>
    index === 0 ? flip(bytes, 9) : bytes,
  );

test("an unchanged log is read to its last checkpoint, and no damage is found", async () => {
  expect(await scrubOnce()).toEqual({ damages: [], checked: SIZE, size: SIZE });
});

test("an entry with a flipped bit is found by its number, and the rest is checked too", async () => {
  const { damages, size } = await scrubOnce((store) => ({
    readEntries: async (start, end) =>
      (await store.readEntries(start, end)).map((bytes, index) =>
        start + index === 300 ? flip(bytes, 9) : bytes,
      ),
  }));
  expect(damages).toEqual([{ seq: 300, reason: "the entry does not hash to its leaf" }]);
  expect(size).toBe(SIZE);
});

test("a hash of a tile above the leaves that changed is found where its entries begin", async () => {
  let isBegun = false;
  const { damages } = await scrubOnce((store) => ({
    readTile: async (tile) => {
      isBegun ||= tile.level === 0 && tile.index === 0;
      const bytes = await store.readTile(tile);
      return isBegun && tile.level === 1 ? flip(bytes, 40) : bytes;
    },
  }));
  expect(damages.map(({ seq }) => seq)).toContain(256);
});

test("entries that were rewritten together with their leaf hashes are found by the signed root", async () => {
  let reads = 0;
  const { damages } = await scrubOnce((store) => ({
    // The last, partial bundle has no tile above it. The tiles are read first.
    readTile: async (tile) => {
      const bytes = await store.readTile(tile);
      if (tile.level !== 0 || tile.index !== 2 || (reads += 1) === 1) return bytes;
      const entries = await changed(store);
      return Buffer.concat(entries.map((entry) => leafHash(entry)));
    },
    readEntries: (start, end) => (start === 512 ? changed(store) : store.readEntries(start, end)),
  }));
  expect(damages).toEqual([{ reason: "the entries hash to another root than the signed one" }]);
});

test("a tile that is too short is damage where its entries begin, and the rest is checked too", async () => {
  const { damages, size } = await scrubOnce((store) => ({
    readTile: async (tile) => {
      const bytes = await store.readTile(tile);
      return tile.level === 0 && tile.index === 1 ? bytes.subarray(1) : bytes;
    },
  }));
  expect(damages).toEqual([{ seq: 256, reason: expect.stringContaining("length") }]);
  expect(size).toBe(SIZE);
});

test("an unexpected error of a store is damage, reported without its message, and ends neither pass nor process", async () => {
  const { damages, size } = await scrubOnce(() => ({
    findMismatchedRow: async (start) => {
      if (start === 256) throw new TypeError("a prompt");
      return undefined;
    },
  }));
  expect(damages).toEqual([{ seq: 256, reason: "the check failed: TypeError" }]);
  expect(size).toBe(SIZE);
});

test("a callback that throws ends neither the scrub nor the process", async () => {
  const { damages } = await scrubOnce(undefined, {
    onChecked: () => {
      throw new RangeError("full");
    },
  });
  expect(damages).toEqual([{ reason: "the check failed: RangeError" }]);
  const onDamage = vi.fn(() => {
    throw new Error("nobody listens");
  });
  const scrub = startScrub({
    store: { readCheckpoint: async () => "nothing" } as unknown as ReceiptStore,
    origin: ORIGIN,
    checkpointKey: noteKey.publicKey,
    entriesPerSecond: 1_000_000,
    pauseMs: 1,
    onDamage,
  });
  await vi.waitFor(() => expect(onDamage.mock.calls.length).toBeGreaterThan(2));
  await expect(scrub.stop()).resolves.toBeUndefined();
});

test("a bundle interrupted by a store failure is checked again, and its damage is reported once", async () => {
  let asked = 0;
  const { damages, checked, size } = await scrubOnce(
    (store) => ({
      readEntries: async (start, end) =>
        (await store.readEntries(start, end)).map((bytes, index) =>
          start + index === 300 ? flip(bytes, 9) : bytes,
        ),
      findMismatchedRow: async (start) => {
        if (start !== 256) return undefined;
        if ((asked += 1) === 1) throw readFailure("read rows", new Error("down"));
        return 310;
      },
    }),
    { retryMs: 1 },
  );
  expect(damages.map(({ seq }) => seq)).toEqual([300, 310]);
  expect({ checked, size }).toEqual({ checked: SIZE, size: SIZE });
});

test("entries that a responding store cannot return are damage after three attempts, and the rest is checked", async () => {
  let asked = 0;
  const { damages, checked, size } = await scrubOnce(
    (store) => ({
      readEntries: async (start, end) => {
        if (start !== 256) return store.readEntries(start, end);
        asked += 1;
        throw readFailure("read entries", Object.assign(new Error("disk"), { code: "EIO" }));
      },
    }),
    { retryMs: 1 },
  );
  expect(damages).toMatchObject([
    { seq: 256, reason: expect.stringMatching(/^cannot be read: .*EIO/u) },
  ]);
  expect({ asked, checked, size }).toEqual({ asked: 3, checked: SIZE - 256, size: SIZE });
});

test("a store that is down is retried until it responds, and no damage is reported", async () => {
  let asked = 0;
  const isDown = (): boolean => asked > 0 && asked < 20;
  const down = (): never => {
    throw readFailure("read", new Error("down"));
  };
  const { damages, checked } = await scrubOnce(
    (store) => ({
      head: async () => (isDown() ? down() : store.head()),
      readEntries: async (start, end) => {
        asked += 1;
        return isDown() ? down() : store.readEntries(start, end);
      },
    }),
    { retryMs: 1 },
  );
  expect({ damages, checked }).toEqual({ damages: [], checked: SIZE });
});

test("an unreadable checkpoint and missing entries are damage; a store that does not respond is not", async () => {
  const gone = await scrubOnce((store) => ({
    head: async () => ({ size: 5, hashes: (await store.head()).hashes }),
  }));
  expect(gone.damages[0]?.reason).toContain("entries are missing");
  const unreadable = await scrubOnce(() => ({ readCheckpoint: async () => "nothing" }));
  expect(unreadable.damages).toHaveLength(1);
  const damages: Damage[] = [];
  const readCheckpoint = vi.fn(() => Promise.reject(readFailure("read", new Error("down"))));
  const scrub = startScrub({
    store: { readCheckpoint } as unknown as ReceiptStore,
    origin: ORIGIN,
    checkpointKey: noteKey.publicKey,
    entriesPerSecond: 1_000_000,
    onDamage: (damage) => damages.push(damage),
  });
  await vi.waitFor(() => expect(readCheckpoint).toHaveBeenCalled());
  await scrub.stop();
  expect(damages).toEqual([]);
});
