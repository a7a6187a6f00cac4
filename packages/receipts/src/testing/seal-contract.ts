import { expect, test } from "vitest";
import type { LogEntry } from "../entry/entry.js";
import { createLogSeal } from "../log/seal.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver, ORIGIN } from "./contract-log.js";
import { draftOf } from "./drafts.js";
import { entriesFrom, writeEntries } from "./store-writer.js";

const seal = createLogSeal(new Uint8Array(32).fill(9), ORIGIN);
const FOREIGN = { code: "ERR_LOG_FOREIGN_TAIL" };

type Open = (log: string) => Promise<ReceiptStore>;

/** A log of three entries covered by a checkpoint and three that are not, as after a kill. */
async function leave(open: Open, name: string): Promise<LogEntry[]> {
  const store = await open(name);
  const log = await logOver(store, { seal });
  await fill(log, 3);
  await log.checkpoint();
  await fill(log, 3, 3);
  const entries = await entriesFrom(store, 0);
  await store.close();
  return entries;
}

/**
 * Opens the log as its writer does, appends an entry and signs a checkpoint; returns the entry's
 * number.
 */
async function reopen(open: Open, name: string): Promise<number> {
  const store = await open(name);
  try {
    const log = await logOver(store, { seal });
    const { seq } = await log.append(draftOf(90));
    await log.checkpoint();
    return seq;
  } finally {
    await store.close();
  }
}

/** Changes after the last checkpoint by an attacker who can write to the store but has no key. */
const ACTS: Readonly<Record<string, (entries: readonly LogEntry[]) => LogEntry[]>> = {
  "a receipt is repeated": (entries) => [entries[1] as LogEntry],
  "a receipt is repeated under another run": (entries) => [
    { ...(entries[4] as LogEntry), run_id: "run_other", rule: "other" },
  ],
  "several are repeated in another order": (entries) => entries.toReversed(),
};

/** After the last checkpoint only entries of the log's own writers count. */
export function testSeals(open: Open): void {
  test("entries of a killed writer count, and the log continues", async () => {
    await leave(open, "seal-own");
    expect(await reopen(open, "seal-own")).toBe(6);
    expect(await reopen(open, "seal-own")).toBe(7);
  });

  for (const [title, act] of Object.entries(ACTS)) {
    test(`${title} after the last checkpoint: the log is not opened`, async () => {
      const name = `seal-${title.replaceAll(" ", "-")}`;
      const entries = await leave(open, name);
      const store = await open(name);
      const old = (await store.head()).seal;
      // With the newest existing seal, which belongs to another tree.
      await writeEntries(store, act(entries), old);
      await store.close();
      await expect(reopen(open, name)).rejects.toMatchObject(FOREIGN);
      await expect(reopen(open, name)).rejects.toMatchObject(FOREIGN);
    });
  }

  test("an open log neither appends after foreign entries nor signs them", async () => {
    const store = await open("seal-open");
    const log = await logOver(store, { seal });
    await fill(log, 3);
    await writeEntries(store, await entriesFrom(store, 1));
    await expect(log.append(draftOf(7))).rejects.toMatchObject(FOREIGN);
    await expect(log.checkpoint()).rejects.toMatchObject(FOREIGN);
    await store.close();
  });

  test("a log without seals continues from its checkpoint, and not from anything after it", async () => {
    const first = await open("seal-older");
    const log = await logOver(first);
    await fill(log, 3);
    await log.close();
    await reopen(open, "seal-older");
    await reopen(open, "seal-older");
    const second = await open("seal-older");
    await fill(await logOver(second), 1, 50);
    await second.close();
    await expect(reopen(open, "seal-older")).rejects.toMatchObject(FOREIGN);
  });

  test("an open log appends after a writer without seals once that writer has signed its entries, and not before", async () => {
    const store = await open("seal-beside");
    const log = await logOver(store, { seal });
    const older = await logOver(store);
    await fill(log, 3);
    await fill(older, 2, 20);
    await expect(log.append(draftOf(7))).rejects.toMatchObject(FOREIGN);
    await expect(log.checkpoint()).rejects.toMatchObject(FOREIGN);
    await older.checkpoint();
    expect((await log.append(draftOf(8))).seq).toBe(5);
    await fill(older, 1, 30);
    await older.checkpoint();
    await log.checkpoint();
    expect((await log.append(draftOf(9))).seq).toBe(7);
    await store.close();
  });

  test("a checkpoint that another key signed opens no log that has seals", async () => {
    await leave(open, "seal-key");
    const store = await open("seal-key");
    const checkpoint = (await store.readCheckpoint()) ?? "";
    const other = checkpoint.replace(/[A-Za-z0-9+/](?=[A-Za-z0-9+/]{20}=*\n$)/u, (one) =>
      one === "A" ? "B" : "A",
    );
    await store.writeCheckpoint(other, 3);
    await store.close();
    await expect(reopen(open, "seal-key")).rejects.toMatchObject({ code: "ERR_LOG_INCONSISTENT" });
  });
}
