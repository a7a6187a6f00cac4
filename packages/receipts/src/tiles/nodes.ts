import type { NodeReader } from "../merkle/prove.js";
import { assertTile } from "./bundle.js";
import { tileWidth } from "./layout.js";
import type { TileName } from "./path.js";
import { TILE_WIDTH } from "./path.js";
import { createTileCache } from "./tile-cache.js";
import type { TileCache } from "./tile-cache.js";

/** Returns the bytes of one tile of hashes. */
export type TileReader = (tile: TileName & { level: number }) => Uint8Array | Promise<Uint8Array>;

const TILE_HEIGHT = 8;

/** Reads nodes of a tree of `size` leaves from its tiles; readers of one log may share a cache. */
export function createTileNodeReader(
  size: number,
  read: TileReader,
  cache: TileCache = createTileCache(),
): NodeReader {
  return async (level, index) => {
    const tileLevel = Math.floor(level / TILE_HEIGHT);
    const height = level % TILE_HEIGHT;
    const count = 2 ** height;
    const tileIndex = Math.floor((index * count) / TILE_WIDTH);
    const offset = index - (tileIndex * TILE_WIDTH) / count;
    const width = tileWidth(tileLevel, tileIndex, size);
    if ((offset + 1) * count > width) throw new TypeError("the node lies outside the tree");
    const name = { level: tileLevel, index: tileIndex, width };
    const tile = await cache.get(name, async () => {
      const bytes = await read(name);
      assertTile(bytes, width);
      return bytes;
    });
    return tile.node(height, offset);
  };
}
