import { verifyEd25519 } from "@countersign/core/verify";
import { expect, test, vi } from "vitest";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import { decodeEntry } from "../entry/decode-entry.js";
import { retentionReceipt } from "../entry/retention.js";
import { storedRoot } from "../log/checkpoints.js";
import { findRetention, startRetention } from "../log/retention.js";
import { startScrub } from "../log/scrub.js";
import type { Damage } from "../log/scrub.js";
import type { ReceiptLog } from "../log/open-log.js";
import { leafHash } from "../merkle/hash.js";
import { frontierRoot } from "../merkle/tree.js";
import { verifyInclusion } from "../merkle/verify-proof.js";
import { createNoteKey } from "../note/vkey.js";
import { parseProof } from "../proof/tlog-proof.js";
import type { ReceiptStore } from "../store/store.js";
import { fill, logOver, noteKey, ORIGIN } from "./contract-log.js";
import { draftOf } from "./drafts.js";

const timeOf = (number: number): number => draftOf(number).received_at ?? 0;

/** The draft that announces a removal, as a gateway writes it. */
export function announcementOf(first: number, number: number): ReturnType<typeof draftOf> {
  const draft = draftOf(number);
  return draftOf(number, {
    receipt: {
      ...draft.receipt,
      allowed: true,
      event_id: `evt_retention_${number}`,
      ...retentionReceipt(first),
    },
  });
}

/** One pass at a time; `now` is the number of the entry that would arrive next. */
async function keepSince(store: ReceiptStore, log: ReceiptLog, now: number, keepMs: number) {
  const removed: number[] = [];
  const failures: unknown[] = [];
  const retention = startRetention({
    log,
    store,
    keepMs,
    clock: () => timeOf(now),
    announce: (first) => announcementOf(first, now),
    onRemoved: (first) => removed.push(first),
    onFailure: (error) => failures.push(error),
  });
  await retention.stop();
  expect(failures).toEqual([]);
  return removed[0];
}

async function scrub(store: ReceiptStore): Promise<Damage[]> {
  const damages: Damage[] = [];
  let isDone = false;
  const scrubbing = startScrub({
    store,
    origin: ORIGIN,
    checkpointKey: noteKey.publicKey,
    entriesPerSecond: 1_000_000,
    onDamage: (damage) => damages.push(damage),
    onPass: () => (isDone = true),
  });
  await vi.waitFor(() => expect(isDone).toBe(true), { timeout: 10_000 });
  await scrubbing.stop();
  return damages;
}

/** Removal of old entries, the same for every store. */
export function testRetention(open: (log: string) => Promise<ReceiptStore>): void {
  test("entries past their time go, younger ones stay, and every proof and checkpoint holds", async () => {
    const store = await open("retention");
    const log = await logOver(store);
    await fill(log, 600);
    await log.checkpoint();
    const before = await Promise.all(
      [3, 599].map(async (seq) => ({ seq, bytes: (await store.readEntries(seq, seq + 1))[0] })),
    );
    // The first pass removes nothing: an embedded store starts a new file here.
    expect(await keepSince(store, log, 600, 4_000)).toBeUndefined();
    await fill(log, 700, 600);
    await log.checkpoint();
    const first = await keepSince(store, log, 1_300, 4_000);
    // Entries 900 and later are younger than 4,000 ms; bundles have 256 entries.
    expect(first).toBeGreaterThanOrEqual(512);
    expect(first).toBeLessThanOrEqual(900);
    if (first === undefined) throw new Error("nothing was removed");
    expect(first % 256).toBe(0);
    expect(await store.first()).toBe(first);
    expect(await findRetention(store)).toEqual({ seq: 1_300, first });
    await expect(store.readEntries(first - 1, first)).rejects.toMatchObject({
      code: "ERR_STORE_REMOVED",
      facts: { first },
    });
    const left = await store.readEntries(first, 1_300);
    expect(left.map((bytes) => decodeEntry(bytes).seq)).toEqual(
      Array.from({ length: 1_300 - first }, (_, at) => first + at),
    );
    const found = await store.query({}, { order: "oldest", limit: 1 });
    expect(found.entries[0]?.seq).toBe(first);
    expect(await store.count({})).toEqual([{ count: 1_301 - first, group: [] }]);
    expect((await store.query({ run_id: "run_1" })).entries).toEqual([]);
    expect(await scrub(store)).toEqual([]);
    await log.close();

    // After a restart the log continues; a copy of a removed entry still has its proof.
    const again = await open("retention");
    const reopened = await logOver(again);
    expect(await again.first()).toBe(first);
    await fill(reopened, 5, 1_301);
    const head = await again.head();
    expect(head.size).toBe(1_306);
    expect(await storedRoot(again, head.size)).toEqual(frontierRoot(head));
    expect(await again.count({})).toEqual([{ count: 1_306 - first, group: [] }]);
    const keys = [createNoteKey(ORIGIN, noteKey.publicKey)];
    for (const { seq, bytes } of before) {
      const proof = parseProof(await reopened.proof(seq));
      const checkpoint = await openCheckpoint(proof.checkpoint, keys, verifyEd25519);
      const leaf = leafHash(bytes ?? new Uint8Array());
      expect(verifyInclusion(leaf, seq, checkpoint.size, proof.hashes, checkpoint.root)).toBe(true);
    }
    // Nothing more is past its time.
    expect(await keepSince(again, reopened, 1_306, 4_500)).toBeUndefined();
    await reopened.close();
  });

  test("imitations of the announcement by an agent do not hide it", async () => {
    const store = await open("imitations");
    const log = await logOver(store);
    await log.append(announcementOf(256, 0));
    const { receipt } = announcementOf(512, 1);
    const imitations = Array.from({ length: 1_100 }, (_, at) =>
      draftOf(at + 1, { receipt: { ...receipt, agent_id: "support", event_id: `evt_${at}` } }),
    );
    await log.appendAll(imitations);
    expect(await findRetention(store)).toEqual({ seq: 0, first: 256 });
    await log.close();
  });

  test("entries that are missing without a signed announcement are damage", async () => {
    const store = await open("unannounced");
    const log = await logOver(store);
    await fill(log, 600);
    await log.checkpoint();
    await store.planRemoval(600, 600);
    await fill(log, 600, 600);
    await log.checkpoint();
    const first = await store.planRemoval(1_100, 0);
    await store.remove(first);
    expect(await store.first()).toBe(first);
    const damages = await scrub(store);
    expect(damages[0]?.seq).toBe(0);
    expect(damages[0]?.reason).toContain("removed");
    await log.close();
  });
}
