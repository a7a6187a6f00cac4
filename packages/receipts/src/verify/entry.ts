import { decodeEntry } from "../entry/decode-entry.js";
import type { LogEntry } from "../entry/entry.js";
import type { KeyPeriod } from "../keys/verify-history.js";
import { keyFault } from "../keys/verify-history.js";
import type { ReceiptOptions } from "./receipt.js";
import { checkReceipt } from "./receipt.js";
import type { Check, SignerTrust, Verification } from "./result.js";
import { conclude, failed, failedBy, held, skipped } from "./result.js";

/** Options of {@link verifyEntry}. */
export type EntryOptions = ReceiptOptions & {
  /** The index of the entry in the log. */
  index?: number;
  /** The entries that each key may sign (`keyPeriods`). */
  periods?: ReadonlyMap<string, KeyPeriod>;
};

function checkKey(entry: LogEntry, { index, periods }: EntryOptions): Check[] {
  if (periods === undefined) return [];
  if (index === undefined) return [skipped("entry-key", "the place is not known")];
  const fault = keyFault(periods, entry.receipt.kernel_key, index);
  return [fault === undefined ? held("entry-key", "in use") : failed("entry-key", fault, index)];
}

/** Checks one entry, without the conclusion. */
export async function checkEntry(
  bytes: Uint8Array,
  options: EntryOptions,
): Promise<{ checks: Check[]; signers: SignerTrust[] }> {
  const { index } = options;
  let entry: LogEntry;
  try {
    entry = decodeEntry(bytes);
  } catch (error) {
    return { checks: [failedBy("entry-format", error, index)], signers: [] };
  }
  const checks = [held("entry-format", `${bytes.length} canonical bytes`, index)];
  if (index === undefined) checks.push(skipped("entry-sequence", "the place is not known"));
  else if (entry.seq === index) checks.push(held("entry-sequence", `entry ${index}`, index));
  else checks.push(failed("entry-sequence", `it says ${entry.seq} at place ${index}`, index));
  checks.push(...checkKey(entry, options));
  const receipt = await checkReceipt(entry.receipt, options);
  const placed = receipt.checks.map((check) => (index === undefined ? check : { ...check, index }));
  return { checks: [...checks, ...placed], signers: receipt.signers };
}

/** Verifies the leaf bytes of one log entry and the receipt inside. */
export async function verifyEntry(
  bytes: Uint8Array,
  options: EntryOptions = {},
): Promise<Verification> {
  const { checks, signers } = await checkEntry(bytes, options);
  return conclude(checks, signers);
}
