import type { SignatureVerifier } from "../note/verify-note.js";
import type { KeyRecord } from "./history.js";
import { keyRecordHash, keyRecordMessage } from "./history.js";
import { parseKeyText, parseSignatureText } from "./key-text.js";

/** The first broken line of a key history and the reason; lines count from 1. */
export type BrokenHistory = { line: number; reason: string };

/** The entries a key may sign: from `first` up to, not including, `end`. */
export type KeyPeriod = { readonly first: number; readonly end: number };

async function fault(
  record: KeyRecord,
  previous: KeyRecord | undefined,
  number: number,
  verify: SignatureVerifier,
): Promise<string | undefined> {
  if (record.number !== number) return "a line is missing or out of order";
  const expected = previous === undefined ? undefined : keyRecordHash(previous);
  if (record.previous_hash !== expected) return "it does not continue the line before";
  if (previous !== undefined && record.first_entry < previous.first_entry) {
    return "first_entry decreases";
  }
  const message = keyRecordMessage(record);
  const holds = (key: string, signature: string) =>
    verify(parseKeyText(key), message, parseSignatureText(signature));
  if (!(await holds((previous ?? record).key, record.signature))) {
    return "the signature of the key before is wrong";
  }
  if (previous === undefined) return record.possession === undefined ? undefined : "possession";
  if (record.possession === undefined) return "the new key did not sign";
  return (await holds(record.key, record.possession)) ? undefined : "the new key did not sign";
}

/** Verifies the chain of rotations; undefined when every line is valid. */
export async function findBrokenRecord(
  records: readonly KeyRecord[],
  verify: SignatureVerifier,
): Promise<BrokenHistory | undefined> {
  let previous: KeyRecord | undefined;
  for (const [number, record] of records.entries()) {
    const reason = await fault(record, previous, number, verify);
    if (reason !== undefined) return { line: number + 1, reason };
    previous = record;
  }
  return undefined;
}

/** The entries that each key of a history may sign. */
export function keyPeriods(records: readonly KeyRecord[]): Map<string, KeyPeriod> {
  const periods = new Map<string, KeyPeriod>();
  for (const record of records) {
    for (const key of record.retires ?? []) {
      const period = periods.get(key);
      if (period === undefined) continue;
      periods.set(key, { ...period, end: Math.min(period.end, record.first_entry) });
    }
    if (!periods.has(record.key)) {
      periods.set(record.key, { first: record.first_entry, end: Number.POSITIVE_INFINITY });
    }
  }
  return periods;
}

/** Why a key may not sign the entry at an index; undefined when it may. */
export function keyFault(
  periods: ReadonlyMap<string, KeyPeriod>,
  key: string,
  index: number,
): string | undefined {
  const period = periods.get(key);
  if (period === undefined) return "the key is not in the history";
  if (index < period.first) return "the key came later";
  return index >= period.end ? "the key was retired" : undefined;
}

/**
 * The keys that a verifier trusts: its anchors, and the keys that a trusted key rotated to. Trust
 * goes forward only: a key does not vouch for earlier keys.
 */
export function trustedThroughHistory(
  records: readonly KeyRecord[],
  anchors: ReadonlySet<string>,
): Set<string> {
  const trusted = new Set(anchors);
  let reached = false;
  for (const record of records) {
    reached ||= trusted.has(record.key);
    if (reached) trusted.add(record.key);
  }
  return trusted;
}
