import { parseCheckpoint } from "../checkpoint/checkpoint.js";
import { proveConsistency, proveInclusion } from "../merkle/prove.js";
import { parseNote } from "../note/note.js";
import { encodeProof } from "../proof/tlog-proof.js";
import { outOfRange } from "../store/failure.js";
import type { ReceiptStore } from "../store/store.js";
import { createTileNodeReader } from "../tiles/nodes.js";
import type { TileCache } from "../tiles/tile-cache.js";

/**
 * `.tlog-proof` text of entry `seq` against a signed checkpoint that covers it. Pass a cache, one
 * per log, to make repeated proofs cheap.
 */
export async function proveEntry(
  store: ReceiptStore,
  seq: number,
  checkpoint: string,
  cache?: TileCache,
): Promise<string> {
  const { size } = parseCheckpoint(parseNote(checkpoint).text);
  if (!Number.isSafeInteger(seq) || seq < 0 || seq >= size) throw outOfRange(size);
  const read = createTileNodeReader(size, (tile) => store.readTile(tile), cache);
  return encodeProof({ index: seq, hashes: await proveInclusion(seq, size, read), checkpoint });
}

/** Proof that the log of `oldSize` entries is a prefix of the log of `newSize` entries. */
export async function proveGrowth(
  store: ReceiptStore,
  oldSize: number,
  newSize: number,
): Promise<Uint8Array[]> {
  const { size } = await store.head();
  if (newSize > size || oldSize > newSize) throw outOfRange(size);
  const read = createTileNodeReader(newSize, (tile) => store.readTile(tile));
  return proveConsistency(oldSize, newSize, read);
}
