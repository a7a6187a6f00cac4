import { FINGERPRINT_WORDS } from "../verify/receipt-fingerprint.js";
import type { Duplicate, DuplicateFinder } from "../verify/duplicates.js";
import { createFingerprintHash, partOf, slotOf } from "./fingerprint-hash.js";
import type { FingerprintHash } from "./fingerprint-hash.js";
import { openSpillFile } from "./spill-file.js";
import type { SpillFile } from "./spill-file.js";

const PARTS = 256;
/** A fingerprint, and the number of its entry. */
const RECORD = FINGERPRINT_WORDS + 2;
const TWO_32 = 2 ** 32;
/** Maximum number of records in memory: 24 MB. */
const MAX_HELD = 1_000_000;
const FIRST_RECORDS = 16;

/**
 * Finds receipts that are in a log twice, in bounded memory: 24 bytes per entry, in 256 partitions
 * by a secret random hash. At most a million entries and one partition are in memory at a time; the
 * rest is in a temporary file.
 */
export function createFileDuplicateFinder(maxHeld = MAX_HELD): DuplicateFinder {
  const hash = createFingerprintHash();
  const parts = Array.from({ length: PARTS }, () => ({ records: new Uint32Array(0), used: 0 }));
  let held = 0;
  let spill: SpillFile | undefined;

  function push(number: number, fingerprints: Uint32Array, at: number): void {
    const part = parts[partOf(hash(fingerprints, at))] as (typeof parts)[number];
    if (part.used + RECORD > part.records.length) {
      const grown = new Uint32Array(Math.max(FIRST_RECORDS * RECORD, part.records.length * 2));
      grown.set(part.records);
      part.records = grown;
    }
    const { records, used } = part;
    for (let word = 0; word < FINGERPRINT_WORDS; word += 1)
      records[used + word] = fingerprints[at + word] ?? 0;
    records[used + FINGERPRINT_WORDS] = Math.floor(number / TWO_32);
    records[used + FINGERPRINT_WORDS + 1] = number % TWO_32;
    part.used = used + RECORD;
    held += 1;
  }

  async function makeRoom(): Promise<void> {
    if (held < maxHeld) return;
    spill ??= await openSpillFile();
    for (const [index, part] of parts.entries()) {
      if (part.used > 0) await spill.write(index, part.records.subarray(0, part.used));
      part.used = 0;
    }
    held = 0;
  }

  return {
    async add(first, fingerprints) {
      for (let at = 0; at < fingerprints.length; at += FINGERPRINT_WORDS) {
        const isEmpty =
          fingerprints[at] === 0 && fingerprints[at + 1] === 0 && fingerprints[at + 2] === 0;
        if (!isEmpty) push(first + at / FINGERPRINT_WORDS, fingerprints, at);
      }
      await makeRoom();
    },
    async find(from = 0) {
      let count = 0;
      let first: Duplicate | undefined;
      for (const [index, { records, used }] of parts.entries()) {
        const pieces = [...((await spill?.read(index)) ?? []), records.subarray(0, used)];
        for (const duplicate of duplicatesIn(pieces, hash)) {
          if (duplicate.index < from) continue;
          count += 1;
          if (first === undefined || duplicate.index < first.index) first = duplicate;
        }
      }
      return { count, first };
    },
    close: async () => spill?.close(),
  };
}

function* duplicatesIn(
  pieces: readonly Uint32Array[],
  hash: FingerprintHash,
): Generator<Duplicate, void, undefined> {
  const words = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const records = new Uint32Array(words);
  let filled = 0;
  for (const piece of pieces) {
    records.set(piece, filled);
    filled += piece.length;
  }
  const count = words / RECORD;
  // Twice as many slots as records; 0 means free.
  const slots = new Uint32Array(count * 2);
  for (let record = 0; record < count; record += 1) {
    const at = record * RECORD;
    let slot = slotOf(hash(records, at), slots.length);
    let known = slots[slot] as number;
    while (known !== 0 && !isSame(records, at, (known - 1) * RECORD)) {
      slot = (slot + 1) % slots.length;
      known = slots[slot] as number;
    }
    if (known === 0) slots[slot] = record + 1;
    else yield { index: numberAt(records, at), earlier: numberAt(records, (known - 1) * RECORD) };
  }
}

function isSame(records: Uint32Array, left: number, right: number): boolean {
  for (let word = 0; word < FINGERPRINT_WORDS; word += 1) {
    if (records[left + word] !== records[right + word]) return false;
  }
  return true;
}

function numberAt(records: Uint32Array, at: number): number {
  const high = records[at + FINGERPRINT_WORDS] as number;
  return high * TWO_32 + (records[at + FINGERPRINT_WORDS + 1] as number);
}
