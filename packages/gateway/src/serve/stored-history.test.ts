import { cp, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generateKey } from "@countersign/core/sign";
import type { ReceiptStore } from "@countersign/receipts/log";
import { openSqliteStore } from "@countersign/receipts/sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { handOverKey, KEY_FILES, openKeyHistory } from "../keys/key-history.js";
import { assertNewestHistory, shareHistory } from "./stored-history.js";

let folder: string;
let store: ReceiptStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-history-"));
  store = await openSqliteStore({ directory: join(folder, "log") });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true, force: true });
});

/** Two copies of a key directory; in the second one the key was rotated. */
async function copies(): Promise<{ older: string; newer: string; newest: string }> {
  const [older, newer] = [await mkdtemp(join(folder, "older-")), join(folder, "newer")];
  const old = generateKey();
  await openKeyHistory(older, old, { firstEntry: 0, now: 1 });
  await cp(older, newer, { recursive: true });
  await handOverKey(newer, { old, next: generateKey() }, { firstEntry: 1, now: 2 });
  return { older, newer, newest: await readFile(join(newer, KEY_FILES.history), "utf8") };
}

test("a gateway that read the history before another rotated the key is refused, and the new history stays", async () => {
  const { older, newer, newest } = await copies();
  await shareHistory(older, store);
  await assertNewestHistory(older, store);
  await shareHistory(newer, store);
  await expect(shareHistory(older, store)).rejects.toMatchObject({
    code: "ERR_KEYS_HISTORY",
    facts: { file: join(older, KEY_FILES.history) },
  });
  expect(await store.readKeyHistory()).toBe(newest);
});

test("a rotation between the last read and the write is not lost either", async () => {
  const { older, newer, newest } = await copies();
  const rotatedMeanwhile: Pick<ReceiptStore, "readKeyHistory" | "writeKeyHistory"> = {
    readKeyHistory: async () => {
      const stored = await store.readKeyHistory();
      await shareHistory(newer, store);
      return stored;
    },
    writeKeyHistory: (text) => store.writeKeyHistory(text),
  };
  await expect(shareHistory(older, rotatedMeanwhile)).rejects.toMatchObject({
    code: "ERR_KEYS_HISTORY",
  });
  expect(await store.readKeyHistory()).toBe(newest);
});
