import { expect, test } from "vitest";
import { FINGERPRINT_WORDS, writeFingerprint } from "../verify/receipt-fingerprint.js";
import { createDuplicateFinder } from "../verify/duplicates.js";
import { createFileDuplicateFinder } from "./file-duplicates.js";

/** The fingerprint of a generated signature. */
function fingerprintOf(number: number): Uint32Array {
  const fingerprints = new Uint32Array(FINGERPRINT_WORDS);
  const digits = Array.from({ length: 4 }, (_, word) =>
    (Math.imul(number + 1, 2_654_435_761 + word * 97) >>> 0).toString(16).padStart(8, "0"),
  );
  writeFingerprint(`ed25519:${digits.join("").padEnd(128, "0")}`, fingerprints, 0);
  return fingerprints;
}

for (const [where, create] of [
  ["in memory", createDuplicateFinder],
  ["in parts", createFileDuplicateFinder],
  ["with a file for what is too much", () => createFileDuplicateFinder(700)],
] as const) {
  test(`every repeated receipt is found, with the lowest number first, ${where}`, async () => {
    const duplicates = create();
    for (let number = 0; number < 5_000; number += 1)
      await duplicates.add(number, fingerprintOf(number));
    expect(await duplicates.find()).toEqual({ count: 0, first: undefined });
    await duplicates.add(5_000, fingerprintOf(4_321));
    await duplicates.add(5_001, fingerprintOf(17));
    await duplicates.add(2 ** 52, fingerprintOf(17));
    expect(await duplicates.find()).toEqual({ count: 3, first: { index: 5_000, earlier: 4_321 } });
    expect(await duplicates.find(5_002)).toEqual({
      count: 1,
      first: { index: 2 ** 52, earlier: 17 },
    });
    await duplicates.close();
  });
}

test("a signature that many receipts share takes no longer than as many signatures", async () => {
  const places = 50_000;
  const fingerprints = new Uint32Array(places * FINGERPRINT_WORDS);
  for (let place = 0; place < places; place += 1)
    fingerprints.set([1, 2, 3, place], place * FINGERPRINT_WORDS);
  const duplicates = createFileDuplicateFinder();
  await duplicates.add(0, fingerprints);
  // Comparing each with all before it took 16 seconds.
  expect((await duplicates.find()).count).toBe(0);
});

test("receipts of one group are distinguished by their index, and one signature in two encodings is one", async () => {
  const root = "ab".repeat(64);
  const duplicates = createFileDuplicateFinder();
  const add = async (number: number, signature: string): Promise<void> => {
    const fingerprints = new Uint32Array(FINGERPRINT_WORDS);
    writeFingerprint(signature, fingerprints, 0);
    await duplicates.add(number, fingerprints);
  };
  await add(0, `ed25519-batch:0/3:${root}:x`);
  await add(1, `ed25519-batch:1/3:${root}:y`);
  await add(2, `ed25519:${root}`);
  expect((await duplicates.find()).count).toBe(0);
  await add(3, root);
  await add(4, `ed25519-batch:1/3:${root}:z`);
  expect(await duplicates.find()).toEqual({ count: 2, first: { index: 3, earlier: 2 } });
});

test("entries without a readable signature do not count as duplicates of each other, in memory or in partitions", async () => {
  const fingerprints = new Uint32Array(FINGERPRINT_WORDS * 4);
  writeFingerprint("no signature", fingerprints, 2);
  writeFingerprint("ed25519:none", fingerprints, 3);
  for (const create of [createDuplicateFinder, createFileDuplicateFinder]) {
    const duplicates = create();
    await duplicates.add(0, fingerprints);
    expect((await duplicates.find()).count).toBe(0);
  }
});
