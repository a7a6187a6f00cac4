import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { proveInclusion } from "../merkle/prove.js";
import { encodeProof } from "../proof/tlog-proof.js";
import { createTileNodeReader } from "../tiles/nodes.js";
import { tilePath } from "../tiles/path.js";
import { EXPORT_FILES } from "../verify/reader.js";
import { createDirectoryReader } from "./directory-reader.js";
import { exportError } from "./errors.js";
import { writeDurable } from "./tree-files.js";

const MAX_TILE_BYTES = 8192;

/** Path of the proof of one entry inside an export. */
export function proofPath(index: number): string {
  return `${EXPORT_FILES.proofs}/${index}.tlog-proof`;
}

/** Writes a `.tlog-proof` for each index from the tiles already written. */
export async function writeProofs(
  directory: string,
  checkpoint: string,
  size: number,
  indices: readonly number[],
): Promise<void> {
  const reader = createDirectoryReader(directory);
  const nodes = createTileNodeReader(size, async (tile) => {
    const bytes = await reader.read(tilePath(tile), MAX_TILE_BYTES);
    if (bytes === undefined) throw new TypeError("the tile was not written");
    return bytes;
  });
  await mkdir(join(directory, EXPORT_FILES.proofs), { recursive: true });
  for (const index of new Set(indices)) {
    if (!Number.isSafeInteger(index) || index < 0 || index >= size) {
      const reason = "a proof was asked for an entry outside the log";
      throw exportError("ERR_EXPORT_MISMATCH", reason, { size, reason });
    }
    const hashes = await proveInclusion(index, size, nodes);
    const text = encodeProof({ index, hashes, checkpoint });
    await writeDurable(join(directory, proofPath(index)), text);
  }
}
