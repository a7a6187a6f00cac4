import { CountersignError } from "@countersign/core";
import type { EntryDraft } from "@countersign/receipts/log";
import { expect, test } from "vitest";
import { createWatchedRecorder } from "./watched-recorder.js";

const DRAFT = {} as EntryDraft;

async function readyAfter(cause: unknown): Promise<boolean> {
  const recorder = { append: () => Promise.reject(cause as Error) };
  const watched = createWatchedRecorder(recorder, { now: () => 0 });
  await expect(watched.append(DRAFT)).rejects.toBe(cause);
  return watched.isReady();
}

test("an entry that the log refuses leaves the gateway ready: the next one may be fine", async () => {
  const large = new CountersignError("ERR_ENTRY_TOO_LARGE", "large", { limit: 1, size: 2 });
  const malformed = new CountersignError("ERR_RECEIPT_MALFORMED", "malformed", {
    member: "mode",
    reason: "unknown",
  });
  expect(await readyAfter(large)).toBe(true);
  expect(await readyAfter(malformed)).toBe(true);
});

test("a failure of the store or the log, and one that nobody foresaw, make it not ready", async () => {
  expect(await readyAfter(new CountersignError("ERR_LOG_CLOSED", "closed", {}))).toBe(false);
  expect(await readyAfter(new Error("disk"))).toBe(false);
});
