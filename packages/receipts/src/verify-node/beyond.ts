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

/** Whom the verifier trusts, and which keys the log was handed over to. */
export type BeyondOptions = Pick<ReceiptOptions, "trustedKeys"> & {
  /** The log's key history, already verified: what is signed by another key is no entry of this log. */
  history?: readonly KeyRecord[];
  /** Has met the receipts that the checkpoint covers; without it a repeat is only seen among those behind it. */
  repeats?: Repeats;
};

/**
 * Adds the entries behind the last checkpoint to a verification: each must be an entry with the next
 * number and a valid receipt that was not there before. That none was left out or put in their place only a checkpoint can tell,
 * so they are one line of their own. Without such entries the verification stays as it is.
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

/** The mark of an entry; of one that cannot be read, which is told elsewhere, none. */
function marksOf(bytes: Uint8Array): Uint32Array {
  const marks = new Uint32Array(MARK_WORDS);
  try {
    writeMark(decodeEntry(bytes).receipt.signature, marks, 0);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
  }
  return marks;
}
