import { mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { leafHash } from "../merkle/hash.js";
import { createTreeBuilder } from "../merkle/tree.js";
import { createTileBuilder } from "../tiles/build.js";
import { encodeBundle, encodeTile } from "../tiles/bundle.js";
import { tilesForGrowth } from "../tiles/layout.js";
import type { TileReader } from "../tiles/nodes.js";
import { entriesPath, TILE_WIDTH, tilePath } from "../tiles/path.js";
import type { ResumedTree } from "../tiles/resume.js";

/** Writes one file and waits until it would survive a power failure. */
export async function writeDurable(path: string, content: Uint8Array | string): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes a rename or a new file name itself survive a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function createTileWriter(directory: string): (path: string, content: Uint8Array) => Promise<void> {
  const made = new Set<string>();
  return async (path, content) => {
    const file = join(directory, path);
    const folder = dirname(file);
    if (!made.has(folder)) {
      await mkdir(folder, { recursive: true });
      made.add(folder);
    }
    await writeDurable(file, content);
  };
}

/** Writes entries as bundles and tiles, holding one bundle and one tile per level. */
export type TreeFiles = {
  append(entry: Uint8Array): Promise<void>;
  /** Writes the partial bundle and tiles; returns size and root. */
  finish(): Promise<{ size: number; root: Uint8Array }>;
};

/** Writes the full tiles over the entries that a log no longer has. */
export async function writeRemovedTiles(
  directory: string,
  first: number,
  read: TileReader,
): Promise<void> {
  const write = createTileWriter(directory);
  for (const { level, index, width } of tilesForGrowth(0, first)) {
    if (level === "entries" || width < TILE_WIDTH) continue;
    await write(tilePath({ level, index, width }), await read({ level, index, width }));
  }
}

/** Starts the tile layout of a log below a directory, or resumes it after entries that are not written. */
export function createTreeFiles(directory: string, resumed?: ResumedTree): TreeFiles {
  const tree = createTreeBuilder(resumed?.frontier);
  const tiles = createTileBuilder(resumed?.levels);
  const write = createTileWriter(directory);
  let bundle: Uint8Array[] = [];
  let bundles = tree.size / TILE_WIDTH;
  const flush = async (): Promise<void> => {
    await write(entriesPath(bundles, bundle.length), encodeBundle(bundle));
    bundle = [];
    bundles += 1;
  };
  return {
    async append(entry) {
      const leaf = leafHash(entry);
      tree.append(leaf);
      bundle.push(entry);
      if (bundle.length === TILE_WIDTH) await flush();
      for (const tile of tiles.append(leaf)) await write(tilePath(tile), encodeTile(tile.hashes));
    },
    async finish() {
      if (bundle.length > 0) await flush();
      for (const tile of tiles.partials()) await write(tilePath(tile), encodeTile(tile.hashes));
      return { size: tree.size, root: tree.root() };
    },
  };
}
