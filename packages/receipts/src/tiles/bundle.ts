import type { CountersignError } from "@countersign/core";
import { MAX_ENTRY_BYTES } from "../entry/entry.js";
import { HASH_BYTES } from "../merkle/hash.js";
import { TILE_WIDTH } from "./path.js";
import { formatError } from "../receipt/errors.js";

function malformed(reason: string): CountersignError {
  return formatError("ERR_TILE_MALFORMED", `a tile or bundle is broken: ${reason}`, {
    reason,
  });
}

/** Upper bound of the bytes of one entry bundle; larger files are rejected before reading. */
export const MAX_BUNDLE_BYTES = TILE_WIDTH * (2 + MAX_ENTRY_BYTES);

/** Encodes entries, each after its length as a 16-bit big-endian number. */
export function encodeBundle(entries: readonly Uint8Array[]): Uint8Array {
  let total = 0;
  for (const entry of entries) {
    if (entry.length > MAX_ENTRY_BYTES) {
      throw formatError("ERR_ENTRY_TOO_LARGE", "an entry does not fit a bundle", {
        limit: MAX_ENTRY_BYTES,
        size: entry.length,
      });
    }
    total += 2 + entry.length;
  }
  if (entries.length < 1 || entries.length > TILE_WIDTH) {
    throw new TypeError("a bundle holds 1 to 256 entries");
  }
  const bytes = new Uint8Array(total);
  let offset = 0;
  for (const entry of entries) {
    bytes[offset] = entry.length >> 8;
    bytes[offset + 1] = entry.length & 0xff;
    bytes.set(entry, offset + 2);
    offset += 2 + entry.length;
  }
  return bytes;
}

/**
 * The entries of a bundle up to the first fault (views, not copies), and the fault. For a verifier
 * that reports the first missing entry.
 */
export function splitBundle(
  bytes: Uint8Array,
  width: number,
): { entries: Uint8Array[]; fault?: string } {
  const entries: Uint8Array[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    if (entries.length === width) return { entries, fault: "more entries than its width" };
    const high = bytes[offset];
    const low = bytes[offset + 1];
    if (high === undefined || low === undefined) return { entries, fault: "cut inside a length" };
    const end = offset + 2 + high * 256 + low;
    if (end > bytes.length) return { entries, fault: "cut inside an entry" };
    entries.push(bytes.subarray(offset + 2, end));
    offset = end;
  }
  return entries.length === width
    ? { entries }
    : { entries, fault: "fewer entries than its width" };
}

/**
 * Splits a bundle into its entries (views, not copies); it must contain exactly `width` of them.
 */
export function decodeBundle(bytes: Uint8Array, width: number): Uint8Array[] {
  const { entries, fault } = splitBundle(bytes, width);
  if (fault !== undefined) throw malformed(fault);
  return entries;
}

/** Concatenates hashes. */
export function encodeTile(hashes: readonly Uint8Array[]): Uint8Array {
  if (hashes.length < 1 || hashes.length > TILE_WIDTH) {
    throw new TypeError("a tile holds 1 to 256 hashes");
  }
  const bytes = new Uint8Array(hashes.length * HASH_BYTES);
  hashes.forEach((hash, index) => bytes.set(hash, index * HASH_BYTES));
  return bytes;
}

/** Rejects a tile that does not contain exactly `width` hashes. */
export function assertTile(bytes: Uint8Array, width: number): void {
  if (bytes.length !== width * HASH_BYTES) throw malformed("length does not fit its width");
}

/** Splits a tile into its hashes (views, not copies); it must contain exactly `width` of them. */
export function decodeTile(bytes: Uint8Array, width: number): Uint8Array[] {
  assertTile(bytes, width);
  const hashes: Uint8Array[] = [];
  for (let offset = 0; offset < bytes.length; offset += HASH_BYTES) {
    hashes.push(bytes.subarray(offset, offset + HASH_BYTES));
  }
  return hashes;
}
