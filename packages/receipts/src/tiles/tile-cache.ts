import { nodeHash } from "../merkle/hash.js";

/** A tile of hashes in memory, with the nodes above them that were asked for so far. */
export type CachedTile = {
  /** Root of the perfect subtree over hashes `index * 2^height` to `(index + 1) * 2^height`. */
  node(height: number, index: number): Uint8Array;
};

/** Tiles that were read lately; a tile of a given width never changes. */
export type TileCache = {
  get(
    name: { level: number; index: number; width: number },
    read: () => Promise<readonly Uint8Array[]>,
  ): Promise<CachedTile>;
};

const TILE_HEIGHT = 8;
const MAX_TILES = 64;

function createCachedTile(hashes: readonly Uint8Array[]): CachedTile {
  const known = new Map<number, Uint8Array>();
  const node = (height: number, index: number): Uint8Array => {
    if (height === 0) return hashes[index] as Uint8Array;
    const place = index * TILE_HEIGHT + height - 1;
    let hash = known.get(place);
    if (hash === undefined) {
      hash = nodeHash(node(height - 1, index * 2), node(height - 1, index * 2 + 1));
      known.set(place, hash);
    }
    return hash;
  };
  return { node };
}

/**
 * Keeps the tiles used last. Shared between proofs it leaves each with one tile to read: those above
 * the leaves are the same for most, and so are the 255 hashes inside each of them.
 */
export function createTileCache(maxTiles: number = MAX_TILES): TileCache {
  const tiles = new Map<string, Promise<CachedTile>>();
  return {
    get({ level, index, width }, read) {
      const key = `${level}/${index}/${width}`;
      let tile = tiles.get(key);
      if (tile === undefined) {
        tile = read().then(createCachedTile);
        // A failed read is tried again by the next call.
        tile.catch(() => tiles.delete(key));
        const oldest = tiles.size >= maxTiles ? tiles.keys().next().value : undefined;
        if (oldest !== undefined) tiles.delete(oldest);
      } else tiles.delete(key);
      tiles.set(key, tile);
      return tile;
    },
  };
}
