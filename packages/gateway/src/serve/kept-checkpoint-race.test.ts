import { mkdtemp, mkdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ReceiptStore } from "@countersign/receipts/log";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keepCheckpoints } from "./kept-checkpoint.js";

const SHORTER = { text: "o\n9999\nroot\n\nsignature-a\n", size: 9999 };
const LONGER = { text: "o\n10000\nroot\n\nsignature-b\n", size: 10_000 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-race-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Keeps the checkpoints of a store that accepts them all, in its own directory. */
function remember(name: string) {
  const store = { writeCheckpoint: async () => undefined } as Partial<ReceiptStore>;
  const directory = join(folder, name);
  const { writeCheckpoint } = keepCheckpoints(store as ReceiptStore, directory);
  return {
    directory,
    write: ({ text, size }: typeof LONGER) => writeCheckpoint(text, size),
    read: () => readFile(join(directory, "last-checkpoint"), "utf8"),
  };
}

test("concurrent checkpoints are each kept whole, and that of the longest log stays", async () => {
  for (let round = 0; round < 20; round += 1) {
    const { directory, write, read } = remember(`${round}`);
    await mkdir(directory);
    await Promise.all([LONGER, SHORTER, LONGER, SHORTER].map(write));
    expect(await read()).toBe(LONGER.text);
  }
});

test("a checkpoint that could not be kept is reported, and the next is kept", async () => {
  const { directory, write, read } = remember("later");
  await expect(write(LONGER)).rejects.toMatchObject({ code: "ENOENT" });
  await mkdir(directory);
  await write(SHORTER);
  expect(await read()).toBe(SHORTER.text);
});
