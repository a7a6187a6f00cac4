import { CountersignError } from "@countersign/core";
import type { EntryDraft } from "@countersign/receipts/log";
import { expect, test } from "vitest";
import { createWatchedRecorder } from "./watched-recorder.js";

const DRAFT = {} as EntryDraft;

async function readyAfter(cause: unknown): Promise<boolean> {
  const recorder = { appendAll: () => Promise.reject(cause as Error) };
  const watched = createWatchedRecorder(recorder);
  await expect(watched.appendAll([DRAFT])).rejects.toBe(cause);
  return watched.isReady();
}

test("an entry that the log refuses leaves the gateway ready", async () => {
  const large = new CountersignError("ERR_ENTRY_TOO_LARGE", "large", { limit: 1, size: 2 });
  const malformed = new CountersignError("ERR_RECEIPT_MALFORMED", "malformed", {
    member: "mode",
    reason: "unknown",
  });
  expect(await readyAfter(large)).toBe(true);
  expect(await readyAfter(malformed)).toBe(true);
});

test("a failure of the store or the log, and an unknown one, make it not ready", async () => {
  expect(await readyAfter(new CountersignError("ERR_LOG_CLOSED", "closed", {}))).toBe(false);
  expect(await readyAfter(new Error("disk"))).toBe(false);
});

test("at 8,192 pending entries the recorder has no room until half of them are settled", async () => {
  const settle: (() => void)[] = [];
  const watched = createWatchedRecorder({
    appendAll: (drafts) =>
      new Promise((resolve) => {
        settle.push(() => resolve(drafts.map(() => ({ seq: 0, id: "" }))));
      }),
  });
  const drafts = Array.from({ length: 2048 }, () => DRAFT);
  const appends = [1, 2, 3].map(() => watched.appendAll(drafts));
  expect(watched.room()).toBeUndefined();
  appends.push(watched.appendAll(drafts));
  const room = watched.room();
  expect(room).toBeDefined();
  let hasRoom = false;
  void room?.then(() => (hasRoom = true));
  settle[0]?.();
  await appends[0];
  await Promise.resolve();
  expect(hasRoom).toBe(false);
  settle[1]?.();
  await appends[1];
  await room;
  expect(hasRoom).toBe(true);
  expect(watched.room()).toBeUndefined();
  for (const resolve of settle) resolve();
});

test("a failed append frees its room", async () => {
  const watched = createWatchedRecorder({ appendAll: () => Promise.reject(new Error("disk")) });
  const append = watched.appendAll(Array.from({ length: 9000 }, () => DRAFT));
  const room = watched.room();
  await expect(append).rejects.toThrow("disk");
  await room;
  expect(watched.room()).toBeUndefined();
});
