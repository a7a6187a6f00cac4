import { HASH_BYTES, nodeHash } from "../merkle/hash.js";

/** A tile of hashes in memory, with the requested nodes above them. */
export type CachedTile = {
  /** Root of the perfect subtree over hashes `index * 2^height` to `(index + 1) * 2^height`. */
  node(height: number, index: number): Uint8Array;
};

/** Recently read tiles; a tile of a given width never changes. */
export type TileCache = {
  get(
    name: { level: number; index: number; width: number },
    /** Returns the concatenated hashes of the tile. */
    read: () => Promise<Uint8Array>,
  ): Promise<CachedTile>;
};

const TILE_HEIGHT = 8;
const MAX_TILES = 64;

// All levels in one buffer: 511 long-lived objects per tile caused garbage collection pauses longer
// than a proof takes.
function createCachedTile(hashes: Uint8Array): CachedTile {
  const starts = [0];
  let count = hashes.length / HASH_BYTES;
  for (let width = count; starts.length <= TILE_HEIGHT; count += width) {
    starts.push(count);
    width = Math.floor(width / 2);
  }
  const nodes = new Uint8Array(count * HASH_BYTES);
  nodes.set(hashes);
  const known = new Uint8Array(count).fill(1, 0, starts[1]);
  const at = (place: number): Uint8Array =>
    nodes.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES);
  const find = (height: number, index: number): number => {
    const place = (starts[height] as number) + index;
    if (known[place] === 1) return place;
    const left = find(height - 1, index * 2);
    const right = find(height - 1, index * 2 + 1);
    nodes.set(nodeHash(at(left), at(right)), place * HASH_BYTES);
    known[place] = 1;
    return place;
  };
  return { node: (height, index) => at(find(height, index)) };
}

/**
 * Keeps the most recently used tiles. Proofs that share it read one tile each: most share the tiles
 * above the leaves, and the 255 hashes inside each of them.
 */
export function createTileCache(maxTiles: number = MAX_TILES): TileCache {
  const tiles = new Map<string, Promise<CachedTile>>();
  return {
    get({ level, index, width }, read) {
      const key = `${level}/${index}/${width}`;
      let tile = tiles.get(key);
      if (tile === undefined) {
        tile = read().then(createCachedTile);
        // The next call retries a failed read.
        tile.catch(() => tiles.delete(key));
        const oldest = tiles.size >= maxTiles ? tiles.keys().next().value : undefined;
        if (oldest !== undefined) tiles.delete(oldest);
      } else tiles.delete(key);
      tiles.set(key, tile);
      return tile;
    },
  };
}
