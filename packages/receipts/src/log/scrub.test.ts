import { expect, test, vi } from "vitest";
import { leafHash } from "../merkle/hash.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { readFailure } from "../store/failure.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver, noteKey, ORIGIN } from "../testing/contract-log.js";
import { withDirectory } from "../testing/directory.js";
import { startScrub } from "./scrub.js";
import type { Damage } from "./scrub.js";

const SIZE = 600;

/** One pass over a log whose store may answer otherwise than it did. */
async function scrubOnce(
  change: (store: ReceiptStore) => Partial<ReceiptStore> = () => ({}),
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
