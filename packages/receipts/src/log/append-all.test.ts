import { sha256Hex } from "@countersign/core";
import { createSigner, generateKey } from "@countersign/core/sign";
import { expect, test } from "vitest";
import { createInThreadSigner } from "../sign/in-thread.js";
import { openSqliteStore } from "../sqlite/open-sqlite-store.js";
import { withDirectory } from "../testing/directory.js";
import { draftOf } from "../testing/drafts.js";
import type { EntryDraft } from "../entry/draft.js";
import { openLog } from "./open-log.js";
import type { LogOptions, ReceiptLog } from "./open-log.js";

const key = generateKey();

async function withLog(
  work: (log: ReceiptLog) => Promise<void>,
  more: Partial<LogOptions> = {},
): Promise<void> {
  await withDirectory(async (directory) => {
    const log = await openLog({
      store: await openSqliteStore({ directory }),
      signer: await createInThreadSigner(key),
      checkpointSigner: createSigner(key),
      origin: "unit.example/log",
      checkpointInterval: 0,
      ...more,
    });
    await work(log);
    await log.close();
  });
}

const drafts = (from: number, count: number): EntryDraft[] =>
  Array.from({ length: count }, (_, index) => draftOf(from + index));

test("calls made together keep their drafts together, in order, whatever the group size", async () => {
  await withLog(
    async (log) => {
      const calls = await Promise.all([
        log.appendAll(drafts(0, 7)),
        log.append(draftOf(7)),
        log.appendAll(drafts(8, 300)),
        log.appendAll([]),
        log.appendAll(drafts(308, 2)),
      ]);
      const entries = calls.flat();
      expect(entries.map((one) => one.seq)).toEqual(entries.map((_, index) => index));
      expect(entries.map((one) => one.id)).toEqual(
        entries.map((_, index) => `agui-${draftOf(index).receipt.event_id}`),
      );
      expect(entries[200]?.entry.seq).toBe(200);
    },
    { groupSize: 5 },
  );
});

test("a draft that cannot be an entry rejects its call whole and no other call", async () => {
  await withLog(async (log) => {
    const bad = draftOf(1, { policy_hash: "\ud800" });
    const results = await Promise.allSettled([
      log.appendAll(drafts(0, 3)),
      log.appendAll([draftOf(3), bad, draftOf(4)]),
      log.appendAll(drafts(5, 3)),
    ]);
    expect(results.map((one) => one.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(results[1]).toMatchObject({ reason: { code: "ERR_RECEIPT_MALFORMED" } });
    const last = results[2];
    expect(last.status === "fulfilled" && last.value.map((one) => one.seq)).toEqual([3, 4, 5]);
    const { receipt } = (await log.append(draftOf(9))).entry;
    expect(receipt.event_id).toBe(draftOf(9).receipt.event_id);
    expect(log.pending).toBe(0);
  });
});

test("a call that would pass the bound is refused whole", async () => {
  await withLog(
    async (log) => {
      const first = log.appendAll(drafts(0, 6));
      await expect(log.appendAll(drafts(6, 5))).rejects.toMatchObject({
        code: "ERR_LOG_QUEUE_FULL",
      });
      expect(await log.appendAll(drafts(6, 4))).toHaveLength(4);
      await first;
    },
    { maxQueue: 10 },
  );
});

function withText(number: number, payload_text: string): EntryDraft {
  const { receipt, ...rest } = draftOf(number);
  const { payload_hash: _, ...members } = receipt;
  return { ...rest, receipt: members, payload_text };
}

test("a payload given as text is hashed as its UTF-8 bytes, and never stored", async () => {
  await withLog(async (log) => {
    const texts = ["{}", '{"text":"grün 🌍"}', `"${"x".repeat(100_000)}"`, ""];
    const entries = await log.appendAll([
      ...texts.map((text, number) => withText(number, text)),
      draftOf(4),
    ]);
    expect(entries.map((one) => one.entry.receipt.payload_hash)).toEqual([
      ...texts.map((text) => sha256Hex(text)),
      draftOf(4).receipt.payload_hash,
    ]);
    for (const one of entries) expect(one.bytes.length).toBeLessThan(2_000);
  });
});

test.each(["a\nb", "\ud800", "x\udc00y"])(
  "a payload text that no JSON encoder writes is refused",
  async (text) => {
    await withLog(async (log) => {
      await expect(log.append(withText(0, text))).rejects.toMatchObject({
        code: "ERR_RECEIPT_MALFORMED",
        facts: { member: "payload_text" },
      });
    });
  },
);
