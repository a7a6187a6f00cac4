import { expect, test } from "vitest";
import { MARK_WORDS, writeMark } from "../verify/receipt-mark.js";
import { createRepeats } from "../verify/repeats.js";
import { createFileRepeats } from "./file-repeats.js";

/** The fingerprint of a generated signature. */
function markOf(number: number): Uint32Array {
  const marks = new Uint32Array(MARK_WORDS);
  const digits = Array.from({ length: 4 }, (_, word) =>
    (Math.imul(number + 1, 2_654_435_761 + word * 97) >>> 0).toString(16).padStart(8, "0"),
  );
  writeMark(`ed25519:${digits.join("").padEnd(128, "0")}`, marks, 0);
  return marks;
}

for (const [where, create] of [
  ["in memory", createRepeats],
  ["in parts", createFileRepeats],
  ["with a file for what is too much", () => createFileRepeats(700)],
] as const) {
  test(`every repeated receipt is found, with the lowest number first, ${where}`, async () => {
    const repeats = create();
    for (let number = 0; number < 5_000; number += 1) await repeats.add(number, markOf(number));
    expect(await repeats.find()).toEqual({ count: 0, first: undefined });
    await repeats.add(5_000, markOf(4_321));
    await repeats.add(5_001, markOf(17));
    await repeats.add(2 ** 52, markOf(17));
    expect(await repeats.find()).toEqual({ count: 3, first: { index: 5_000, earlier: 4_321 } });
    expect(await repeats.find(5_002)).toEqual({ count: 1, first: { index: 2 ** 52, earlier: 17 } });
    await repeats.close();
  });
}

test("a signature that many receipts share takes no longer than as many signatures", async () => {
  const places = 50_000;
  const marks = new Uint32Array(places * MARK_WORDS);
  for (let place = 0; place < places; place += 1) marks.set([1, 2, 3, place], place * MARK_WORDS);
  const repeats = createFileRepeats();
  await repeats.add(0, marks);
  // Comparing each with all before it took 16 seconds.
  expect((await repeats.find()).count).toBe(0);
});

test("receipts of one group are distinguished by their index, and one signature in two encodings is one", async () => {
  const root = "ab".repeat(64);
  const repeats = createFileRepeats();
  const add = async (number: number, signature: string): Promise<void> => {
    const marks = new Uint32Array(MARK_WORDS);
    writeMark(signature, marks, 0);
    await repeats.add(number, marks);
  };
  await add(0, `ed25519-batch:0/3:${root}:x`);
  await add(1, `ed25519-batch:1/3:${root}:y`);
  await add(2, `ed25519:${root}`);
  expect((await repeats.find()).count).toBe(0);
  await add(3, root);
  await add(4, `ed25519-batch:1/3:${root}:z`);
  expect(await repeats.find()).toEqual({ count: 2, first: { index: 3, earlier: 2 } });
});

test("entries without a readable signature do not count as repeats of each other, in memory or in partitions", async () => {
  const marks = new Uint32Array(MARK_WORDS * 4);
  writeMark("no signature", marks, 2);
  writeMark("ed25519:none", marks, 3);
  for (const create of [createRepeats, createFileRepeats]) {
    const repeats = create();
    await repeats.add(0, marks);
    expect((await repeats.find()).count).toBe(0);
  }
});
