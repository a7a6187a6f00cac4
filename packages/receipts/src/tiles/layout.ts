import type { TileName } from "./path.js";
import { TILE_WIDTH } from "./path.js";

/** Number of hashes at a tile level of a tree: one per full tile below. */
export function hashesAtLevel(level: number, size: number): number {
  let count = size;
  for (let above = 0; above < level && count > 0; above += 1)
    count = Math.floor(count / TILE_WIDTH);
  return count;
}

/** Width of one tile in a tree of this size: 0 when the tile does not exist, at most 256. */
export function tileWidth(level: number, index: number, size: number): number {
  const width = hashesAtLevel(level, size) - index * TILE_WIDTH;
  return Math.max(0, Math.min(TILE_WIDTH, width));
}

/**
 * Every resource of a tree of `size` leaves that a tree of `oldSize` leaves did not have yet: entry
 * bundles first, then tiles from the leaves up, in the order to write them.
 */
export function* tilesForGrowth(oldSize: number, size: number): Generator<TileName> {
  for (const level of ["entries" as const, ...tileLevels(size)]) {
    const depth = level === "entries" ? 0 : level;
    const before = hashesAtLevel(depth, oldSize);
    const count = hashesAtLevel(depth, size);
    for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < count; index += 1) {
      const width = tileWidth(depth, index, size);
      if (index * TILE_WIDTH + width > before) yield { level, index, width };
    }
  }
}

/** The tile levels that a tree of this size has. */
export function tileLevels(size: number): number[] {
  const levels: number[] = [];
  for (let level = 0; hashesAtLevel(level, size) > 0; level += 1) levels.push(level);
  return levels;
}
