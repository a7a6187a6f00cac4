import { equalBytes } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { describe, expect, test } from "vitest";
import { openCheckpoint } from "../checkpoint/verify-checkpoint.js";
import type { LogEntry } from "../entry/entry.js";
import { storedRoot } from "../log/checkpoints.js";
import { proveGrowth } from "../log/prove-entry.js";
import { leafHash } from "../merkle/hash.js";
import { verifyConsistency, verifyInclusion } from "../merkle/verify-proof.js";
import { createNoteKey } from "../note/vkey.js";
import { parseProof } from "../proof/tlog-proof.js";
import type { ReceiptStore } from "../store/store.js";
import { decodeBundle } from "../tiles/bundle.js";
import { checkWholeLog } from "./check-log.js";
import { fill, logOver, noteKey, ORIGIN } from "./contract-log.js";
import { draftOf } from "./drafts.js";
import { testQueries } from "./query-contract.js";
import { testRetention } from "./retention-contract.js";
import { testSeals } from "./seal-contract.js";

/** The contract of every store, run against each of them with the same data. */
export function describeStoreContract(
  name: string,
  open: (log: string) => Promise<ReceiptStore>,
): void {
  describe(`${name}`, () => {
    testLog(open);
    testQueries(open);
    testSeals(open);
    testRetention(open);
  });
}

function testLog(open: (log: string) => Promise<ReceiptStore>): void {
  test("appended entries keep their order, read back whole and survive reopening", async () => {
    const log = await logOver(await open("order"));
    const appended = (await fill(log, 600)) as { seq: number; id: string; entry: LogEntry }[];
    expect(appended.map((one) => one.seq)).toEqual(appended.map((_, seq) => seq));
    expect(appended[599]?.id).toBe(`agui-${draftOf(599).receipt.event_id}`);
    expect(appended[599]?.entry).toMatchObject(draftOf(599));
    await log.close();
    const store = await open("order");
    const entries = await checkWholeLog(store);
    expect(entries).toEqual(appended.map((one) => one.entry));
    const bundle = await store.readTile({ level: "entries", index: 2, width: 88 });
    expect(decodeBundle(bundle, 88).length).toBe(88);
    await expect(store.readEntries(590, 601)).rejects.toMatchObject({ code: "ERR_STORE_RANGE" });
    await expect(store.readTile({ level: 0, index: 2, width: 89 })).rejects.toMatchObject({
      code: "ERR_STORE_RANGE",
    });
    await store.close();
    await expect(
      store.append(() => {
        throw new Error("never");
      }, "strict"),
    ).rejects.toMatchObject({
      code: "ERR_STORE_CLOSED",
    });
  });

  test("a proof verifies against its own checkpoint, and growth is consistent", async () => {
    const store = await open("proof");
    const log = await logOver(store);
    const first = (await fill(log, 300)) as { bytes: Uint8Array }[];
    const oldRoot = await storedRoot(store, 300);
    await fill(log, 400, 300);
    const proof = parseProof(await log.proof(123));
    const keys = [createNoteKey(ORIGIN, noteKey.publicKey)];
    const checkpoint = await openCheckpoint(proof.checkpoint, keys, verifyEd25519);
    expect(checkpoint.size).toBe(700);
    const leaf = leafHash(first[123]?.bytes ?? new Uint8Array());
    expect(verifyInclusion(leaf, 123, 700, proof.hashes, checkpoint.root)).toBe(true);
    const growth = await proveGrowth(store, 300, 700);
    const [older, newer] = [{ size: 300, root: oldRoot }, checkpoint];
    expect(verifyConsistency(older, newer, growth)).toBe(true);
    expect(await store.readCheckpoint()).toBe(proof.checkpoint);
    await expect(log.proof(700)).rejects.toMatchObject({ code: "ERR_STORE_RANGE" });
    await log.close();
  });

  test("an older checkpoint never replaces a newer one in what readers are given", async () => {
    const store = await open("checkpoints");
    const log = await logOver(store);
    await fill(log, 3);
    const text = await log.checkpoint();
    expect(
      equalBytes(
        (await openCheckpoint(text, [createNoteKey(ORIGIN, noteKey.publicKey)], verifyEd25519))
          .root,
        await storedRoot(store, 3),
      ),
    ).toBe(true);
    await store.writeCheckpoint("older\n", 2);
    expect(await store.readCheckpoint()).toBe(text);
    await log.close();
  });

  test("concurrent checkpoints all succeed, and the newest one stays", async () => {
    const store = await open("together");
    const log = await logOver(store);
    for (let round = 0; round < 5; round += 1) {
      const made = [log.checkpoint(), fill(log, 10, round * 10), log.checkpoint()];
      await Promise.all([...made, log.checkpoint(), log.checkpoint()]);
      const newest = await log.checkpoint();
      expect(await store.readCheckpoint()).toBe(newest);
      expect(newest.split("\n")[1]).toBe(String(round * 10 + 10));
    }
    await log.close();
  });

  test("an older key history never replaces a newer one, nor does another one", async () => {
    const store = await open("keys");
    expect(await store.readKeyHistory()).toBeUndefined();
    const [first, second] = ["one\n", "one\ntwo\n"];
    for (const text of [first, second, second]) {
      expect(await store.writeKeyHistory(text)).toBe(true);
      expect(await store.readKeyHistory()).toBe(text);
    }
    for (const text of [first, "", "one\nother\n", "other\ntwo\nthree\n"]) {
      expect(await store.writeKeyHistory(text)).toBe(false);
      expect(await store.readKeyHistory()).toBe(second);
    }
    await store.close();
  });

  test("a batch of a relaxed log verifies like any other", async () => {
    const log = await logOver(await open("relaxed"), { durability: "relaxed", sign: "batch" });
    await fill(log, 200);
    await log.close();
    const store = await open("relaxed");
    const entries = await checkWholeLog(store);
    expect(entries.filter((one) => one.receipt.signature.startsWith("ed25519-batch:")).length).toBe(
      entries.filter((one) => one.receipt.allowed).length,
    );
    await store.close();
  });
}
