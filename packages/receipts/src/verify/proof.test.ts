import { expect, test } from "vitest";
import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import { leafHash, rootOfLevel } from "../merkle/hash.js";
import type { NodeReader } from "../merkle/prove.js";
import { proveConsistency, proveInclusion } from "../merkle/prove.js";
import { parseKeyHistory } from "../keys/history.js";
import { keyPeriods } from "../keys/verify-history.js";
import { encodeProof } from "../proof/tlog-proof.js";
import { sampleCheckpoint, sampleEvent, sampleLog } from "../testing/sample-log.js";
import { verifyCheckpoint } from "./checkpoint.js";
import { verifyEntry } from "./entry.js";
import { verifyProof } from "./proof.js";
import type { Verification } from "./result.js";

const log = await sampleLog(20);
const leaves = log.entries.map(leafHash);
const read: NodeReader = (level, index) =>
  rootOfLevel(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level));
const proofOf = async (index: number) =>
  encodeProof({ index, hashes: await proveInclusion(index, 20, read), checkpoint: log.checkpoint });
const failures = (result: Verification) =>
  result.checks.filter(({ status }) => status === "failed").map(({ id }) => id);
const trust = { trustedLogs: [log.vkey], trustedKeys: log.receiptKeys };

test("each entry of a log is proven by its own file", async () => {
  for (const [index, entry] of log.entries.entries()) {
    const result = await verifyProof(await proofOf(index), entry, {
      ...trust,
      event: sampleEvent(index),
    });
    expect(failures(result)).toEqual([]);
    expect(result).toMatchObject({ valid: true, signerTrusted: true });
  }
});

test("a proof matches no other entry, and a log the verifier does not know proves nothing", async () => {
  const proof = await proofOf(5);
  const other = await verifyProof(proof, log.entries[6]!, trust);
  expect(failures(other)).toEqual(["inclusion", "entry-sequence"]);
  expect(other.firstBrokenIndex).toBe(5);
  expect(failures(await verifyProof(proof, log.entries[5]!))).toEqual(["checkpoint-signature"]);
  const presented = await verifyProof(proof, log.entries[5]!, { presentedKey: log.vkey });
  expect(presented).toMatchObject({ valid: true, signerTrusted: null });
  const notTrusted = { presentedKey: log.vkey, trustedLogs: [], trustedKeys: log.receiptKeys };
  expect(await verifyProof(proof, log.entries[5]!, notTrusted)).toMatchObject({
    valid: true,
    signerTrusted: false,
  });
});

test("a proof file or entry that cannot be read is a coded failure", async () => {
  const result = await verifyProof("not a proof", log.entries[0]!, trust);
  expect(result.checks).toMatchObject([{ id: "proof-format", code: "ERR_PROOF_MALFORMED" }]);
  const broken = await verifyProof(await proofOf(0), Uint8Array.of(1), trust);
  expect(failures(broken)).toEqual(["inclusion", "entry-format"]);
  const large = await verifyEntry(new Uint8Array(65_536));
  expect(large.checks).toMatchObject([{ status: "failed", code: "ERR_ENTRY_TOO_LARGE" }]);
});

test("an entry verifies alone, and at its own index only", async () => {
  expect(await verifyEntry(log.entries[4]!)).toMatchObject({ valid: true });
  expect(await verifyEntry(log.entries[4]!, { index: 4 })).toMatchObject({ valid: true });
  expect(await verifyEntry(log.entries[4]!, { index: 5 })).toMatchObject({
    valid: false,
    firstBrokenIndex: 5,
  });
});

test("a checkpoint is consistent with an older one of the same log, and with no other history", async () => {
  const older = await sampleCheckpoint(log.entries.slice(0, 13));
  const proof = await proveConsistency(13, 20, read);
  const good = await verifyCheckpoint(log.checkpoint, {
    ...trust,
    older: { checkpoint: older, proof },
  });
  expect(good).toMatchObject({ valid: true, signerTrusted: true });
  expect(good.checkpoint?.size).toBe(20);
  expect(parseCheckpoint(good.checkpoint?.note.text ?? "").size).toBe(20);
  const fork = await sampleCheckpoint(log.entries.slice(1, 14));
  const bad = await verifyCheckpoint(log.checkpoint, {
    ...trust,
    older: { checkpoint: fork, proof },
  });
  expect(failures(bad)).toEqual(["checkpoint-consistency"]);
  const junk = await verifyCheckpoint(log.checkpoint, {
    ...trust,
    older: { checkpoint: "", proof },
  });
  expect(failures(junk)).toEqual(["checkpoint-consistency"]);
});

test("a verifier's own key list that cannot be read is the verifier's problem, not the log's", async () => {
  await expect(verifyCheckpoint(log.checkpoint, { trustedLogs: ["junk"] })).rejects.toMatchObject({
    code: "ERR_NOTE_KEY",
  });
});

test("with the key history a proof fails for an entry of a retired key, or of one not yet in use", async () => {
  // The log itself accepted entry 12 of the old key: only the history shows that the key was
  // rotated at 10.
  const { keys, receiptKeys } = await sampleLog(20, { rotateAt: 10 });
  const periods = keyPeriods(parseKeyHistory(keys));
  const all = { ...trust, trustedKeys: receiptKeys, periods };
  expect(failures(await verifyProof(await proofOf(12), log.entries[12]!, all))).toEqual([
    "entry-key",
  ]);
  expect(failures(await verifyProof(await proofOf(9), log.entries[9]!, all))).toEqual([]);
  const other = new Map([[String(receiptKeys[1]), { first: 0, end: 20 }]]);
  const foreign = await verifyProof(await proofOf(9), log.entries[9]!, {
    ...trust,
    periods: other,
  });
  expect(failures(foreign)).toEqual(["entry-key"]);
  const alone = await verifyEntry(log.entries[12]!, all);
  expect(alone.checks.find(({ id }) => id === "entry-key")).toMatchObject({ status: "skipped" });
});
