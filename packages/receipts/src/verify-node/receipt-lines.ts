import { createReadStream } from "node:fs";
import { createLineGroups } from "../verify/lines.js";
import { verifyReceipt } from "../verify/receipt.js";
import type { ReceiptOptions } from "../verify/receipt.js";
import type { CheckId, SignerTrust, Verification } from "../verify/result.js";
import { conclude, failed, skipped } from "../verify/result.js";
import type { Tallies } from "../verify/tally.js";
import { countFailed, countHeld, tallyCheck } from "../verify/tally.js";
import { loadFastVerifier } from "./ed25519.js";

const CHECKS: readonly CheckId[] = ["receipt-format", "receipt-signature", "deny-signed-singly"];

/**
 * Verifies a file of receipts, one on each line, on their own: what `receipts.jsonl` of an export is.
 * Each says what was decided and who signed it; that they are all there, in this order, only the whole
 * export with its checkpoint can show. A failure names its line, from 0 on.
 */
export async function verifyReceiptLines(
  file: string,
  options: Pick<ReceiptOptions, "trustedKeys"> = {},
): Promise<Verification> {
  const lines = createLineGroups(createReadStream(file, { highWaterMark: 1 << 18 }));
  const all = { ...options, verifySignature: await loadFastVerifier() };
  const tallies: Tallies = new Map();
  const signers = new Map<string, SignerTrust>();
  let number = 0;
  try {
    for (let line = await lines.take(1); line.length > 0; line = await lines.take(1)) {
      const { checks, signers: found } = await verifyReceipt(line, all);
      for (const { id, status, detail, code } of checks) {
        if (status === "held") countHeld(tallies, id);
        else if (status === "failed") countFailed(tallies, id, number, detail, code);
      }
      for (const signer of found) signers.set(signer.key, signer);
      number += 1;
    }
  } finally {
    await lines.close();
  }
  if (number === 0) return conclude([failed("receipt-format", "the file holds no receipt")], []);
  const checks = CHECKS.map((id) => {
    const tally = tallies.get(id);
    return tally === undefined ? skipped(id, "nothing to check") : tallyCheck(tally, "receipts");
  });
  checks.push(skipped("tree-root", "receipts alone: whether all are there only an export shows"));
  return conclude(checks, [...signers.values()]);
}
