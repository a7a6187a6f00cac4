import { equalBytes } from "@countersign/core";
import type { DecodedEntry } from "../entry/decode-entry.js";
import { decodeEntryTexts } from "../entry/decode-entry.js";
import type { KeyPeriod } from "../keys/verify-history.js";
import { keyFault } from "../keys/verify-history.js";
import { HASH_BYTES, leafHash, rootOfLevel } from "../merkle/hash.js";
import { utf8 } from "../receipt/canonical-text.js";
import { MAX_BUNDLE_BYTES, splitBundle } from "../tiles/bundle.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { ExportReader } from "./reader.js";
import { readTileFile } from "./reader.js";
import { FINGERPRINT_WORDS, writeFingerprint } from "./receipt-fingerprint.js";
import { createLineComparison } from "./receipts-file.js";
import type { ReceiptSignatures } from "./signature.js";
import { isBatchSignature } from "./signature.js";
import type { Tallies, Tally } from "./tally.js";
import { countFailed, countFailedBy, countHeld } from "./tally.js";

/** The result of one bundle; plain data, so that another thread can send it. */
export type BundleReport = {
  readonly index: number;
  readonly tallies: readonly Tally[];
  /** Root of a full bundle, or the leaf hashes of the last, partial one. */
  readonly root?: Uint8Array;
  readonly leaves?: readonly Uint8Array[];
  readonly keys: readonly string[];
  /** The fingerprints of the receipts, entry by entry (`writeFingerprint`). */
  readonly fingerprints: Uint32Array;
};

/** The inputs that are the same for all bundles of one export. */
export type BundleContext = {
  readonly reader: ExportReader;
  readonly signatures: ReceiptSignatures;
  /** The entries that each key may sign; undefined when the history is missing or broken. */
  readonly periods: ReadonlyMap<string, KeyPeriod> | undefined;
};

async function checkSigned(
  decoded: DecodedEntry,
  index: number,
  context: BundleContext,
  tallies: Tallies,
): Promise<void> {
  const { receipt } = decoded.entry;
  const { kernel_key: key, signature } = receipt;
  try {
    if (await context.signatures.verify(utf8(decoded.bodyText), key, signature)) {
      countHeld(tallies, "receipt-signature");
    } else countFailed(tallies, "receipt-signature", index, "the signature is not valid");
  } catch (error) {
    countFailedBy(tallies, "receipt-signature", index, error);
  }
  if (!receipt.allowed && isBatchSignature(signature)) {
    countFailed(tallies, "deny-signed-singly", index, "a blocked event shares a batch signature");
  } else countHeld(tallies, "deny-signed-singly");
  if (context.periods === undefined) return;
  const fault = keyFault(context.periods, key, index);
  if (fault === undefined) countHeld(tallies, "entry-key");
  else countFailed(tallies, "entry-key", index, fault);
}

/** The leaf tile of a bundle; undefined when it is missing or of the wrong length. */
async function readLeafTile(
  reader: ExportReader,
  index: number,
  width: number,
): Promise<Uint8Array | undefined> {
  const file = await readTileFile(reader, { level: 0, index, width }, TILE_WIDTH * HASH_BYTES);
  if (file === undefined) return undefined;
  const expected = (file.isLarger ? TILE_WIDTH : width) * HASH_BYTES;
  return file.bytes.length === expected ? file.bytes : undefined;
}

/** Verifies one bundle: entries, signatures, leaf tile, and its lines of `receipts.jsonl`. */
export async function verifyBundle(
  index: number,
  width: number,
  context: BundleContext,
  lines?: Uint8Array,
): Promise<BundleReport> {
  const tallies: Tallies = new Map();
  const keys = new Set<string>();
  const start = index * TILE_WIDTH;
  const file = await readTileFile(
    context.reader,
    { level: "entries", index, width },
    MAX_BUNDLE_BYTES,
  );
  const tile = await readLeafTile(context.reader, index, width);
  if (tile === undefined) {
    countFailed(tallies, "leaf-tiles", start, "the tile is missing or of the wrong width");
  }
  const split = splitBundle(file?.bytes ?? new Uint8Array(0), file?.isLarger ? TILE_WIDTH : width);
  const entries = split.entries.slice(0, width);
  const isCut = entries.length < width || (split.fault !== undefined && !file?.isLarger);
  countHeld(tallies, "entries-complete", entries.length);
  if (isCut) {
    const detail = file === undefined ? "the bundle is missing" : (split.fault ?? "cut");
    countFailed(tallies, "entries-complete", start + entries.length, detail);
  }
  const leaves: Uint8Array[] = [];
  const fingerprints = new Uint32Array(entries.length * FINGERPRINT_WORDS);
  const comparison = createLineComparison(lines, tallies);
  for (const [offset, bytes] of entries.entries()) {
    const at = start + offset;
    const leaf = leafHash(bytes);
    leaves.push(leaf);
    if (tile !== undefined) {
      const expected = tile.subarray(offset * HASH_BYTES, (offset + 1) * HASH_BYTES);
      if (equalBytes(leaf, expected)) countHeld(tallies, "leaf-tiles");
      else countFailed(tallies, "leaf-tiles", at, "the entry does not hash to its leaf");
    }
    try {
      const decoded = decodeEntryTexts(bytes);
      const { entry } = decoded;
      countHeld(tallies, "entry-format");
      if (entry.seq === at) countHeld(tallies, "entry-sequence");
      else countFailed(tallies, "entry-sequence", at, `it says ${entry.seq}`);
      keys.add(entry.receipt.kernel_key);
      writeFingerprint(entry.receipt.signature, fingerprints, offset);
      comparison.compare(at, decoded.receiptBytes);
      await checkSigned(decoded, at, context, tallies);
    } catch (error) {
      countFailedBy(tallies, "entry-format", at, error);
      comparison.compare(at, undefined);
    }
  }
  return {
    index,
    tallies: [...tallies.values()],
    keys: [...keys],
    fingerprints,
    ...(leaves.length === TILE_WIDTH ? { root: rootOfLevel(leaves) } : { leaves }),
  };
}
