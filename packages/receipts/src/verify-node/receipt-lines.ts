import { basename, dirname } from "node:path";
import { isCountersignError, parseJson } from "@countersign/core";
import { createDirectoryReader } from "../export/directory-reader.js";
import { createLineGroups } from "../verify/lines.js";
import { verifyReceipt } from "../verify/receipt.js";
import type { ReceiptOptions } from "../verify/receipt.js";
import type { Check, CheckId, SignerTrust, Verification } from "../verify/result.js";
import { conclude, failed, skipped } from "../verify/result.js";
import type { Tallies } from "../verify/tally.js";
import { countFailed, countHeld, tallyCheck } from "../verify/tally.js";
import { FINGERPRINT_WORDS, writeFingerprint } from "../verify/receipt-fingerprint.js";
import { duplicateCheck } from "../verify/duplicates.js";
import { loadFastVerifier } from "./ed25519.js";
import { createFileDuplicateFinder } from "./file-duplicates.js";

const CHECKS: readonly CheckId[] = ["receipt-format", "receipt-signature", "deny-signed-singly"];

/**
 * Verifies a file of receipts, one per line, without a log: for example `receipts.jsonl` of an
 * export. Each receipt shows a decision and its signer; only a whole export with its checkpoint can
 * show that all are present, in this order. A failure names its line, from 0 on.
 */
export async function verifyReceiptLines(
  file: string,
  options: Pick<ReceiptOptions, "trustedKeys"> = {},
): Promise<Verification> {
  const source = await createDirectoryReader(dirname(file)).stream(basename(file));
  if (source === undefined) return conclude([failed("receipt-format", "the file is missing")], []);
  const lines = createLineGroups(source);
  const all = { ...options, verifySignature: await loadFastVerifier() };
  const tallies: Tallies = new Map();
  const signers = new Map<string, SignerTrust>();
  const duplicates = createFileDuplicateFinder();
  let number = 0;
  let once: Check;
  try {
    for (let line = await lines.take(1); line.length > 0; line = await lines.take(1)) {
      const { checks, signers: found } = await verifyReceipt(line, all);
      for (const { id, status, detail, code } of checks) {
        if (status === "held") countHeld(tallies, id);
        else if (status === "failed") countFailed(tallies, id, number, detail, code);
      }
      for (const signer of found) signers.set(signer.key, signer);
      await duplicates.add(number, fingerprintOf(line));
      number += 1;
    }
    if (number === 0) return conclude([failed("receipt-format", "the file holds no receipt")], []);
    once = duplicateCheck(await duplicates.find(), `${number} receipts`);
  } finally {
    await lines.close();
    await duplicates.close();
  }
  const checks = CHECKS.map((id) => {
    const tally = tallies.get(id);
    return tally === undefined ? skipped(id, "nothing to check") : tallyCheck(tally, "receipts");
  });
  checks.push(
    once,
    skipped("tree-root", "receipts alone: whether all are there only an export shows"),
  );
  return conclude(checks, [...signers.values()]);
}

/**
 * The fingerprint of the receipt on a line; zeros for anything else, which another check reports.
 */
function fingerprintOf(line: Uint8Array): Uint32Array {
  const fingerprints = new Uint32Array(FINGERPRINT_WORDS);
  try {
    const value = parseJson(line);
    const signature = value instanceof Object && "signature" in value ? value["signature"] : "";
    if (typeof signature === "string") writeFingerprint(signature, fingerprints, 0);
  } catch (error) {
    if (!isCountersignError(error)) throw error;
  }
  return fingerprints;
}
