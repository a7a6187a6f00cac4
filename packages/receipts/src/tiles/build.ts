import { HASH_BYTES, rootOfLevel } from "../merkle/hash.js";
import type { TileName } from "./path.js";
import { TILE_WIDTH } from "./path.js";

/** A tile of hashes, ready to be encoded. */
export type HashTile = TileName & {
  readonly level: number;
  readonly hashes: readonly Uint8Array[];
};

/** Splits a stream of leaf hashes into tiles, holding at most one unfinished tile per level. */
export type TileBuilder = {
  /** Adds the next leaf hash; returns the completed tiles, lowest level first. */
  append(leaf: Uint8Array): HashTile[];
  /** The partial tiles of the current tree, lowest level first. */
  partials(): HashTile[];
};

/** Starts with an empty tree, or with the hashes of the partial tiles of a stored one. */
export function createTileBuilder(
  from: readonly { index: number; hashes: readonly Uint8Array[] }[] = [],
): TileBuilder {
  const levels = from.map(({ index, hashes }) => ({ index, hashes: [...hashes] }));
  return {
    append(leaf) {
      if (leaf.length !== HASH_BYTES) throw new TypeError("a leaf hash is 32 bytes");
      const done: HashTile[] = [];
      let carry: Uint8Array | undefined = leaf;
      for (let level = 0; carry !== undefined; level += 1) {
        const open = (levels[level] ??= { index: 0, hashes: [] });
        open.hashes.push(carry);
        carry = undefined;
        if (open.hashes.length === TILE_WIDTH) {
          done.push({ level, index: open.index, width: TILE_WIDTH, hashes: open.hashes });
          carry = rootOfLevel(open.hashes);
          open.hashes = [];
          open.index += 1;
        }
      }
      return done;
    },
    partials() {
      return levels.flatMap(({ index, hashes }, level) =>
        hashes.length === 0 ? [] : [{ level, index, width: hashes.length, hashes: [...hashes] }],
      );
    },
  };
}
