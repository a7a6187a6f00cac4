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

/** One pass over a log whose store may answer otherwise than it did. */
async function scrubOnce(
  change: (store: ReceiptStore) => Partial<ReceiptStore> = () => ({}),
  options: Partial<ScrubOptions> = {},
): Promise<{ damages: Damage[]; checked: number; size: number | undefined }> {
  return withDirectory(async (directory) => {
    const store = await openSqliteStore({ directory });
    const log = await logOver(store);
    await fill(log, SIZE);
    await log.checkpoint();
    // Nothing is looked at that is not signed for.
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
    // A pass that cannot begin has no end.
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

/** The entries of the last bundle, the first of them another. */
const changed = async (store: ReceiptStore): Promise<Uint8Array[]> =>
  (await store.readEntries(512, SIZE)).map((bytes, index) =>
    index === 0 ? flip(bytes, 9) : bytes,
  );

test("a log that is as it was signed is read to its last checkpoint, and nothing is found", async () => {
  expect(await scrubOnce()).toEqual({ damages: [], checked: SIZE, size: SIZE });
});

test("an entry with a flipped bit is found by its number, and the rest is looked at too", async () => {
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
    // The last, partial bundle: no tile above knows it. The first look is at the tiles alone.
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

test("a tile that is too short is damage where its entries begin, and the rest is looked at too", async () => {
  const { damages, size } = await scrubOnce((store) => ({
    readTile: async (tile) => {
      const bytes = await store.readTile(tile);
      return tile.level === 0 && tile.index === 1 ? bytes.subarray(1) : bytes;
    },
  }));
  expect(damages).toEqual([{ seq: 256, reason: expect.stringContaining("length") }]);
  expect(size).toBe(SIZE);
});

test("an error that no store should throw is damage, told without its message, and ends neither pass nor process", async () => {
  const { damages, size } = await scrubOnce(() => ({
    findMisfiled: async (start) => {
      if (start === 256) throw new TypeError("a prompt");
      return undefined;
    },
  }));
  expect(damages).toEqual([{ seq: 256, reason: "looking failed: TypeError" }]);
  expect(size).toBe(SIZE);
});

test("whoever fails at being told ends neither the scrub nor the process", async () => {
  const { damages } = await scrubOnce(undefined, {
    onChecked: () => {
      throw new RangeError("full");
    },
  });
  expect(damages).toEqual([{ reason: "looking failed: RangeError" }]);
  const onDamage = vi.fn(() => {
    throw new Error("nobody listens");
  });
  const scrub = startScrub({
    store: { readCheckpoint: async () => "nothing" } as unknown as ReceiptStore,
    origin: ORIGIN,
    checkpointKey: noteKey.publicKey,
    entriesPerSecond: 1_000_000,
    restMs: 1,
    onDamage,
  });
  await vi.waitFor(() => expect(onDamage.mock.calls.length).toBeGreaterThan(2));
  await expect(scrub.stop()).resolves.toBeUndefined();
});

test("a bundle that the store fell silent in is looked at once more, and what was found there is told once", async () => {
  let asked = 0;
  const { damages, checked, size } = await scrubOnce(
    (store) => ({
      readEntries: async (start, end) =>
        (await store.readEntries(start, end)).map((bytes, index) =>
          start + index === 300 ? flip(bytes, 9) : bytes,
        ),
      findMisfiled: async (start) => {
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

test("entries that a store which answers cannot give are damage after three tries, and the rest is looked at", async () => {
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

test("a store that is down is asked until it answers, however long, and nothing is called damage", async () => {
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

test("a checkpoint that cannot be read, and entries that are gone, are damage; a store that does not answer is none", async () => {
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
