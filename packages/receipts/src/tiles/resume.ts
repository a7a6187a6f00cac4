import { HASH_BYTES, rootOfLevel } from "../merkle/hash.js";
import type { Frontier } from "../merkle/tree.js";
import { hashesAtLevel } from "./layout.js";
import type { TileReader } from "./nodes.js";
import { TILE_WIDTH } from "./path.js";

/** A tree after its first entries: enough to add the next one without them. */
export type ResumedTree = {
  readonly frontier: Frontier;
  /** The partial tile of each level, for `createTileBuilder`. */
  readonly levels: readonly { readonly index: number; readonly hashes: readonly Uint8Array[] }[];
};

/** Resumes a tree after `size` entries from its partial tiles: one for each level. */
export async function resumeTree(size: number, read: TileReader): Promise<ResumedTree> {
  const levels: { index: number; hashes: Uint8Array[] }[] = [];
  const subtrees: Uint8Array[] = [];
  for (let level = 0, count = size; count > 0; count = hashesAtLevel(level, size)) {
    const index = Math.floor(count / TILE_WIDTH);
    const width = count % TILE_WIDTH;
    const bytes = width === 0 ? new Uint8Array(0) : await read({ level, index, width });
    const hashes = Array.from({ length: width }, (_, at) =>
      bytes.slice(at * HASH_BYTES, (at + 1) * HASH_BYTES),
    );
    levels.push({ index, hashes });
    subtrees.unshift(...perfectSubtrees(hashes));
    level += 1;
  }
  return { frontier: { size, hashes: subtrees }, levels };
}

/** The roots of the largest perfect subtrees over the hashes of a partial tile, in order. */
function perfectSubtrees(hashes: readonly Uint8Array[]): Uint8Array[] {
  const roots: Uint8Array[] = [];
  let start = 0;
  for (let width = TILE_WIDTH / 2; width >= 1; width /= 2) {
    if ((hashes.length & width) === 0) continue;
    roots.push(rootOfLevel(hashes.slice(start, start + width)));
    start += width;
  }
  return roots;
}
