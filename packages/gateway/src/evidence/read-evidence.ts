import { sha256Hex } from "@countersign/core";
import type { CountersignError } from "@countersign/core";
import type { LogEntry } from "@countersign/receipts";
import { isCountersignError } from "@countersign/core";
import type { EvidenceKey } from "../keys/evidence-keys.js";
import type { EvidenceRow } from "../store/evidence-store.js";
import { decodeCopy } from "./copy.js";
import type { EvidenceCopy } from "./copy.js";
import { damaged } from "./seal.js";
import type { EvidenceSeal } from "./seal.js";

/** The copy of one entry, or why it cannot be read. */
export type EvidenceRead =
  | { readonly seq: number; readonly keptAt: number; readonly copy: EvidenceCopy }
  | { readonly seq: number; readonly problem: CountersignError };

/** The parts that decrypt copies. */
export type EvidenceOpening = {
  readonly seal: EvidenceSeal;
  readonly keys: readonly EvidenceKey[];
  /** Copies that were kept before this time are over, also while they are still stored. */
  readonly keptSince: number;
};

/**
 * Decrypts the copies of entries and compares each with the hash in the log. An entry without a valid copy is left out;
 * one whose copy was changed has a problem, never other content.
 */
export function openEvidence(
  { seal, keys, keptSince }: EvidenceOpening,
  entries: readonly LogEntry[],
  rows: readonly EvidenceRow[],
): EvidenceRead[] {
  const bySeq = new Map(rows.map((row) => [row.seq, row]));
  return entries.flatMap((entry): EvidenceRead[] => {
    const row = bySeq.get(entry.seq);
    if (row === undefined || row.keptAt < keptSince) return [];
    try {
      return [{ seq: entry.seq, keptAt: row.keptAt, copy: openCopy(seal, keys, entry, row) }];
    } catch (problem) {
      if (!isCountersignError(problem)) throw problem;
      return [{ seq: entry.seq, problem }];
    }
  });
}

function openCopy(
  seal: EvidenceSeal,
  keys: readonly EvidenceKey[],
  { seq, receipt, emitted_hash: emittedHash }: LogEntry,
  { keyId, bytes }: EvidenceRow,
): EvidenceCopy {
  const { payload_hash: payloadHash } = receipt;
  const copy = decodeCopy(seq, seal.open(keys, keyId, { seq, payloadHash }, bytes));
  if (copy.redacted !== undefined) return copy;
  if (copy.payload !== undefined && sha256Hex(copy.payload) !== payloadHash) {
    throw damaged(seq, "its SHA-256 is not the payload_hash of the receipt");
  }
  if (copy.emitted !== undefined && sha256Hex(copy.emitted) !== emittedHash) {
    throw damaged(seq, "its SHA-256 is not the emitted_hash of the entry");
  }
  return copy;
}
