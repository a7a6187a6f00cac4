import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { matchPlainParts } from "../entry/plain-parts.js";
import type { KeyPeriod } from "../keys/verify-history.js";
import { HASH_BYTES } from "../merkle/hash.js";
import { hashBytes, joinHashes, latin1Hash } from "../merkle/latin1-hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import { MAX_BUNDLE_BYTES } from "../tiles/bundle.js";
import { TILE_WIDTH, tilePath } from "../tiles/path.js";
import type { BundleReport } from "../verify/bundle.js";
import { FINGERPRINT_WORDS, writeFingerprint } from "../verify/receipt-fingerprint.js";
import type { CheckId } from "../verify/result.js";
import { FastSignatures } from "./fast-signatures.js";

/** The inputs that are the same for all bundles of one export. */
export type FastVerifyContext = {
  readonly directory: string;
  readonly check: SignatureVerifier;
  readonly periods: ReadonlyMap<string, KeyPeriod> | undefined;
};

const LENGTH_BYTES = 2;
const LINE_FEED = 0x0a;
const HELD: readonly CheckId[] = [
  "entries-complete",
  "leaf-tiles",
  "entry-format",
  "entry-sequence",
  "receipt-signature",
  "deny-signed-singly",
  "entry-key",
];

function readWhole(path: string, maxBytes: number): Buffer | undefined {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stat = fstatSync(file);
    // The general verifier reports a pipe or a device.
    const isPlain = stat.isFile() && stat.size > 0 && stat.size <= maxBytes;
    return isPlain ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

/**
 * Verifies a bundle without faults or rare forms: plain entries, each signed separately or in a
 * batch. For any other bundle, broken or merely rare, it returns undefined, and `verifyBundle`
 * decides. It checks everything that function checks, so it is faster but never more lenient.
 */
export function fastVerifyBundle(
  index: number,
  width: number,
  context: FastVerifyContext,
  lines: Uint8Array | undefined,
): BundleReport | undefined {
  const path = (level: number | "entries"): string =>
    join(context.directory, tilePath({ level, index, width }));
  const bundle = readWhole(path("entries"), MAX_BUNDLE_BYTES);
  const tile = readWhole(path(0), TILE_WIDTH * HASH_BYTES);
  if (bundle === undefined || tile?.length !== width * HASH_BYTES) return undefined;
  const signatures = new FastSignatures(context.check, context.periods);
  const leaves: Latin1Hash[] = [];
  const fingerprints = new Uint32Array(width * FINGERPRINT_WORDS);
  let at = 0;
  let lineAt = 0;
  for (let offset = 0; offset < width; offset += 1) {
    if (at + LENGTH_BYTES > bundle.length) return undefined;
    const start = at + LENGTH_BYTES;
    const end = start + bundle.readUInt16BE(at);
    if (end > bundle.length) return undefined;
    // Printable ASCII only: Latin-1 and UTF-8 are the same.
    const parts = matchPlainParts(bundle.toString("latin1", start, end));
    const seq = index * TILE_WIDTH + offset;
    if (parts === undefined || parts.seq !== String(seq)) return undefined;
    const from = start + parts.head;
    const to = from + parts.length;
    if (lines !== undefined) {
      const lineEnd = lineAt + parts.length;
      if (lines[lineEnd] !== LINE_FEED) return undefined;
      if (bundle.compare(lines, lineAt, lineEnd, from, to) !== 0) return undefined;
      lineAt = lineEnd + 1;
    }
    // The leaf prefix 0x00 replaces a byte of the length, which was read already: no copy for
    // hashing.
    bundle[start - 1] = 0;
    leaves.push(latin1Hash(bundle.subarray(start - 1, end)));
    writeFingerprint(parts.other ?? `ed25519:${parts.single}`, fingerprints, offset);
    if (!signatures.take(parts, bundle, from, seq)) return undefined;
    at = end;
  }
  if (at !== bundle.length || tile.toString("latin1") !== leaves.join("")) return undefined;
  if (!signatures.hold()) return undefined;
  const tallied = lines === undefined ? HELD : [...HELD, "receipts-file" as const];
  return {
    index,
    tallies: tallied.map((id) => ({ id, held: width, failed: 0 })),
    keys: [...signatures.keys],
    fingerprints,
    ...(width === TILE_WIDTH ? { root: rootOf(leaves) } : { leaves: cut(tile) }),
  };
}

function rootOf(leaves: readonly Latin1Hash[]): Uint8Array {
  let level = leaves;
  while (level.length > 1) {
    const above: Latin1Hash[] = [];
    for (let index = 0; index < level.length; index += 2) {
      above.push(joinHashes(level[index] as Latin1Hash, level[index + 1] as Latin1Hash));
    }
    level = above;
  }
  return new Uint8Array(hashBytes(level[0] as Latin1Hash));
}

function cut(hashes: Buffer): Uint8Array[] {
  return Array.from(
    { length: hashes.length / HASH_BYTES },
    (_, index) => new Uint8Array(hashes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES)),
  );
}
