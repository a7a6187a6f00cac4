import { equalBytes } from "@countersign/core";
import { HASH_BYTES } from "../merkle/hash.js";
import { createTreeBuilder } from "../merkle/tree.js";
import type { HashTile } from "../tiles/build.js";
import { createTileBuilder } from "../tiles/build.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { ResumedTree } from "../tiles/resume.js";
import type { BundleReport } from "./bundle.js";
import type { ExportReader } from "./reader.js";
import { readTileFile } from "./reader.js";
import type { Tallies } from "./tally.js";
import { countFailed, countHeld } from "./tally.js";

/** Rebuilds the tree above the bundles and compares it with the tiles of the export. */
export type ExportTree = {
  /** Adds the next bundle, in order. */
  append(report: BundleReport): Promise<void>;
  /** Compares the last, partial tiles; returns the root, unless a leaf is missing. */
  finish(): Promise<Uint8Array | undefined>;
};

/** Compares the tiles above the leaves; each of their hashes covers a full tile below. */
export function createExportTree(
  reader: ExportReader,
  tallies: Tallies,
  resumed?: ResumedTree,
): ExportTree {
  const above = createTileBuilder(resumed?.levels.slice(1));
  // Full bundles are perfect subtrees: the frontier over their roots has the hashes of their leaves.
  const perfect = createTreeBuilder(
    resumed && { ...resumed.frontier, size: resumed.frontier.size / TILE_WIDTH },
  );
  // The first broken entry of each bundle: more precise than a hash over many.
  const broken = new Map<number, number>();
  let tail: readonly Uint8Array[] | undefined;
  let isWhole = true;
  const firstBroken = (start: number, end: number): number => {
    for (const [bundle, index] of broken) {
      if (bundle * TILE_WIDTH >= start && bundle * TILE_WIDTH < end) return index;
    }
    return start;
  };
  const compare = async (tile: HashTile): Promise<void> => {
    const level = tile.level + 1;
    const leavesPerHash = TILE_WIDTH ** level;
    const first = tile.index * TILE_WIDTH * leavesPerHash;
    const file = await readTileFile(reader, { ...tile, level }, TILE_WIDTH * HASH_BYTES);
    const width = file?.isLarger ? TILE_WIDTH : tile.width;
    if (file === undefined || file.bytes.length !== width * HASH_BYTES) {
      const detail = `tile ${tile.index} of level ${level} is missing or of the wrong width`;
      countFailed(tallies, "upper-tiles", first, detail);
      return;
    }
    for (const [offset, hash] of tile.hashes.entries()) {
      const found = file.bytes.subarray(offset * HASH_BYTES, (offset + 1) * HASH_BYTES);
      if (equalBytes(found, hash)) {
        countHeld(tallies, "upper-tiles");
        continue;
      }
      const start = first + offset * leavesPerHash;
      const end = start + leavesPerHash;
      const detail = `something in entries ${start} to ${end - 1} was changed`;
      countFailed(tallies, "upper-tiles", firstBroken(start, end), detail);
    }
  };
  return {
    async append(report) {
      const faults = report.tallies.flatMap(({ first }) =>
        first === undefined ? [] : [first.index],
      );
      if (faults.length > 0) broken.set(report.index, Math.min(...faults));
      // A short bundle before this one: the position of later leaves is unknown.
      if (tail !== undefined) isWhole = false;
      if (report.root === undefined) {
        tail = report.leaves ?? [];
        return;
      }
      perfect.append(report.root);
      for (const tile of above.append(report.root)) await compare(tile);
    },
    async finish() {
      if (!isWhole) return undefined;
      for (const tile of above.partials()) await compare(tile);
      // Roots of full tiles are perfect subtrees: their frontier is that of their leaves.
      const { size, hashes } = perfect.frontier();
      const tree = createTreeBuilder({ size: size * TILE_WIDTH, hashes });
      for (const leaf of tail ?? []) tree.append(leaf);
      return tree.root();
    },
  };
}
