import { HASH_BYTES } from "../merkle/hash.js";
import { latin1Hash } from "../merkle/latin1-hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import type { SignedGroup } from "./group.js";
import { subtreesOver } from "./subtrees.js";

/** Bytes before each entry: its length, big-endian. */
export const LENGTH_BYTES = 2;

/** Writes the length of an entry before it. */
export function writeLength(bytes: Buffer, start: number, end: number): void {
  const length = end - start - LENGTH_BYTES;
  bytes[start] = length >> 8;
  bytes[start + 1] = length & 0xff;
}

/** Hashes the entries of a group, and the subtrees over them. */
export function sealGroup(first: number, records: Buffer, places: Uint32Array): SignedGroup {
  const hashes: Latin1Hash[] = [];
  let start = 0;
  for (let at = 1; at < places.length; at += 2) {
    const end = places[at] as number;
    const low = records[start + 1] as number;
    // The leaf prefix 0x00 temporarily replaces a byte of the length: no copy for hashing.
    records[start + 1] = 0;
    hashes.push(latin1Hash(records.subarray(start + 1, end)));
    records[start + 1] = low;
    start = end;
  }
  const leaves = Buffer.allocUnsafeSlow(hashes.length * HASH_BYTES);
  leaves.write(hashes.join(""), "latin1");
  return { first, records, places, leaves, nodes: subtreesOver(hashes, first) };
}

/** The same entries with other numbers: after a failure, or when another gateway appended. */
export function renumber(group: SignedGroup, first: number): SignedGroup {
  const count = group.places.length / 2;
  const room = String(first + count).length;
  const records = Buffer.allocUnsafeSlow(group.records.length + count * room);
  const places = new Uint32Array(count * 2);
  let from = 0;
  let start = 0;
  for (let index = 0; index < count; index += 1) {
    const seqFrom = group.places[index * 2] as number;
    const to = group.places[index * 2 + 1] as number;
    const digits = String(group.first + index).length;
    records.set(group.records.subarray(from, seqFrom), start);
    const seqAt = start + seqFrom - from;
    const restAt = seqAt + records.write(String(first + index), seqAt, "latin1");
    records.set(group.records.subarray(seqFrom + digits, to), restAt);
    const end = restAt + to - seqFrom - digits;
    writeLength(records, start, end);
    places[index * 2] = seqAt;
    places[index * 2 + 1] = end;
    from = to;
    start = end;
  }
  return sealGroup(first, records.subarray(0, start), places);
}
