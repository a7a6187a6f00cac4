import { rootOfLevel } from "../merkle/hash.js";
import type { NodeReader } from "../merkle/prove.js";
import { decodeTile } from "./bundle.js";
import { tileWidth } from "./layout.js";
import type { TileName } from "./path.js";
import { TILE_WIDTH } from "./path.js";

/** Gives the bytes of one tile of hashes. */
export type TileReader = (tile: TileName & { level: number }) => Uint8Array | Promise<Uint8Array>;

const TILE_HEIGHT = 8;
const MAX_CACHED_TILES = 64;

/** Reads nodes of a tree of `size` leaves out of its tiles; keeps the last tiles it read. */
export function createTileNodeReader(size: number, read: TileReader): NodeReader {
  const cache = new Map<string, Promise<Uint8Array[]>>();
  const tileHashes = (level: number, index: number): Promise<Uint8Array[]> => {
    const key = `${level}/${index}`;
    let tile = cache.get(key);
    if (tile === undefined) {
      const width = tileWidth(level, index, size);
      tile = Promise.resolve(read({ level, index, width })).then((bytes) =>
        decodeTile(bytes, width),
      );
      const oldest = cache.size >= MAX_CACHED_TILES ? cache.keys().next().value : undefined;
      if (oldest !== undefined) cache.delete(oldest);
      cache.set(key, tile);
    }
    return tile;
  };
  return async (level, index) => {
    const tileLevel = Math.floor(level / TILE_HEIGHT);
    const count = 2 ** (level % TILE_HEIGHT);
    const first = index * count;
    const tile = Math.floor(first / TILE_WIDTH);
    const offset = first % TILE_WIDTH;
    if (offset + count > tileWidth(tileLevel, tile, size)) {
      throw new TypeError("the node lies outside the tree");
    }
    const hashes = await tileHashes(tileLevel, tile);
    return rootOfLevel(hashes.slice(offset, offset + count));
  };
}
