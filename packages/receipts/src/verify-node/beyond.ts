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
import { MARK_WORDS, writeMark } from "../verify/receipt-mark.js";
import { createRepeats, repeatCheck } from "../verify/repeats.js";
import type { Repeats } from "../verify/repeats.js";
import type { Tallies } from "../verify/tally.js";
import { countFailed, countHeld, tallyCheck } from "../verify/tally.js";
import { loadFastVerifier } from "./ed25519.js";

const ID = "beyond-checkpoint";

/** The keys that the verifier trusts, and the log's key history. */
export type BeyondOptions = Pick<ReceiptOptions, "trustedKeys"> & {
  /** The verified key history of the log: an entry of any other key is not part of this log. */
  history?: readonly KeyRecord[];
  /**
   * The receipts that the checkpoint covers; without it only repeats among the later entries are
   * found.
   */
  repeats?: Repeats;
};

/**
 * Adds the entries after the last checkpoint to a verification: each must be an entry with the next
 * number and a valid receipt that is not a repeat. Only a checkpoint can show that none was removed
 * or replaced, so they get their own check. Without such entries the verification is returned
 * unchanged.
 */
export async function verifyBeyond(
  covered: Verification,
  size: number,
  entries: AsyncIterable<Uint8Array>,
  options: BeyondOptions = {},
): Promise<Verification> {
  const tallies: Tallies = new Map();
  const signers = new Map<string, SignerTrust>(covered.signers.map((one) => [one.key, one]));
  const verifySignature = await loadFastVerifier();
  const { history, trustedKeys, repeats = createRepeats() } = options;
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
    await repeats.add(next, marksOf(bytes));
    next += 1;
  }
  const tally = tallies.get(ID);
  if (tally === undefined) return covered;
  const what = `entries after the last checkpoint, from ${size} on`;
  const found = await repeats.find(size);
  const checks = [...covered.checks, tallyCheck(tally, what)];
  if (found.count > 0) checks.push(repeatCheck(found, `${next - size} ${what}`));
  return conclude(checks, [...signers.values()]);
}

/**
 * The fingerprint of an entry; zeros for one that cannot be decoded, which another check reports.
 */
function marksOf(bytes: Uint8Array): Uint32Array {
  const marks = new Uint32Array(MARK_WORDS);
  try {
    writeMark(decodeEntry(bytes).receipt.signature, marks, 0);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
  }
  return marks;
}
