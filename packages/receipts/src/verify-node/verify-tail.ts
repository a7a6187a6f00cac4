import { isCountersignError } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import type { KeyRecord } from "../keys/history.js";
import { keyPeriods, trustedThroughHistory } from "../keys/verify-history.js";
import type { EntryOptions } from "../verify/entry.js";
import { verifyEntry } from "../verify/entry.js";
import type { ReceiptOptions } from "../verify/receipt.js";
import { normalKey } from "../verify/receipt.js";
import type { SignerTrust, Verification } from "../verify/result.js";
import { conclude } from "../verify/result.js";
import { FINGERPRINT_WORDS, writeFingerprint } from "../verify/receipt-fingerprint.js";
import { createDuplicateFinder, duplicateCheck } from "../verify/duplicates.js";
import type { DuplicateFinder } from "../verify/duplicates.js";
import type { Tallies } from "../verify/tally.js";
import { countFailed, countHeld, tallyCheck } from "../verify/tally.js";
import { loadFastVerifier } from "./ed25519.js";

const ID = "beyond-checkpoint";

/** The keys that the verifier trusts, and the log's key history. */
export type TailOptions = Pick<ReceiptOptions, "trustedKeys"> & {
  /** The verified key history of the log: an entry of any other key is not part of this log. */
  history?: readonly KeyRecord[];
  /**
   * The receipts that the checkpoint covers; without it only duplicates among the later entries are
   * found.
   */
  duplicates?: DuplicateFinder;
};

/**
 * Adds the entries after the last checkpoint to a verification: each must be an entry with the next
 * number and a valid receipt that is not a duplicate. Only a checkpoint can show that none was removed
 * or replaced, so they get their own check. Without such entries the verification is returned
 * unchanged.
 */
export async function verifyTail(
  covered: Verification,
  size: number,
  entries: AsyncIterable<Uint8Array>,
  options: TailOptions = {},
): Promise<Verification> {
  const tallies: Tallies = new Map();
  const signers = new Map<string, SignerTrust>(covered.signers.map((one) => [one.key, one]));
  const verifySignature = await loadFastVerifier();
  const { history, trustedKeys, duplicates = createDuplicateFinder() } = options;
  const anchors = trustedKeys && new Set(trustedKeys.map(normalKey));
  const known: EntryOptions = {
    verifySignature,
    ...(anchors && { trustedKeys: [...trustedThroughHistory(history ?? [], anchors)] }),
    ...(history && { periods: keyPeriods(history) }),
  };
  let next = size;
  for await (const bytes of entries) {
    const one = await verifyEntry(bytes, { ...known, index: next });
    const broken = one.checks.find(({ status }) => status === "failed");
    if (broken === undefined) countHeld(tallies, ID);
    else countFailed(tallies, ID, next, broken.detail, broken.code);
    for (const signer of one.signers) {
      if (!signers.has(signer.key)) signers.set(signer.key, signer);
    }
    await duplicates.add(next, fingerprintOf(bytes));
    next += 1;
  }
  const tally = tallies.get(ID);
  if (tally === undefined) return covered;
  const what = `entries after the last checkpoint, from ${size} on`;
  const found = await duplicates.find(size);
  const checks = [...covered.checks, tallyCheck(tally, what)];
  if (found.count > 0) checks.push(duplicateCheck(found, `${next - size} ${what}`));
  return conclude(checks, [...signers.values()]);
}

/**
 * The fingerprint of an entry; zeros for one that cannot be decoded, which another check reports.
 */
function fingerprintOf(bytes: Uint8Array): Uint32Array {
  const fingerprints = new Uint32Array(FINGERPRINT_WORDS);
  try {
    writeFingerprint(decodeEntry(bytes).receipt.signature, fingerprints, 0);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
  }
  return fingerprints;
}
