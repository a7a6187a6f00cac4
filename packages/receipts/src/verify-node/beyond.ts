import type { ReceiptOptions } from "../verify/receipt.js";
import { verifyEntry } from "../verify/entry.js";
import type { SignerTrust, Verification } from "../verify/result.js";
import { conclude } from "../verify/result.js";
import type { Tallies } from "../verify/tally.js";
import { countFailed, countHeld, tallyCheck } from "../verify/tally.js";
import { loadFastVerifier } from "./ed25519.js";

const ID = "beyond-checkpoint";

/**
 * Adds the entries behind the last checkpoint to a verification: each must be an entry with the next
 * number and a valid receipt. That none was left out or put in their place only a checkpoint can tell,
 * so they are one line of their own. Without such entries the verification stays as it is.
 */
export async function verifyBeyond(
  covered: Verification,
  size: number,
  entries: AsyncIterable<Uint8Array>,
  options: Pick<ReceiptOptions, "trustedKeys"> = {},
): Promise<Verification> {
  const tallies: Tallies = new Map();
  const signers = new Map<string, SignerTrust>(covered.signers.map((one) => [one.key, one]));
  const verifySignature = await loadFastVerifier();
  let next = size;
  for await (const bytes of entries) {
    const { trustedKeys } = options;
    const trust = trustedKeys === undefined ? {} : { trustedKeys };
    const one = await verifyEntry(bytes, { ...trust, verifySignature, index: next });
    const broken = one.checks.find(({ status }) => status === "failed");
    if (broken === undefined) countHeld(tallies, ID);
    else countFailed(tallies, ID, next, broken.detail, broken.code);
    for (const signer of one.signers) {
      if (!signers.has(signer.key)) signers.set(signer.key, signer);
    }
    next += 1;
  }
  const tally = tallies.get(ID);
  if (tally === undefined) return covered;
  const check = tallyCheck(tally, `entries after the last checkpoint, from ${size} on`);
  return conclude([...covered.checks, check], [...signers.values()]);
}
