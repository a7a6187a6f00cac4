import { rootFromNodes } from "../merkle/prove.js";
import { EMPTY_ROOT, HASH_BYTES } from "../merkle/hash.js";
import { MAX_BUNDLE_BYTES, splitBundle } from "../tiles/bundle.js";
import { createTileNodeReader } from "../tiles/nodes.js";
import { TILE_WIDTH } from "../tiles/path.js";
import type { ExportReader } from "./reader.js";
import { readTileFile } from "./reader.js";

/** The entries of a verified export from a bundle on, in order. */
export async function* readExportEntries(
  reader: ExportReader,
  firstBundle: number,
  size: number,
): AsyncGenerator<Uint8Array> {
  for (let index = firstBundle; index * TILE_WIDTH < size; index += 1) {
    const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
    const file = await readTileFile(reader, { level: "entries", index, width }, MAX_BUNDLE_BYTES);
    if (file === undefined) throw new TypeError("a bundle of the verified export is missing");
    const { entries } = splitBundle(file.bytes, file.isLarger ? TILE_WIDTH : width);
    yield* entries.slice(0, width);
  }
}

/** The root of the first `older` entries of a verified export of `size` entries. */
export async function readExportRoot(
  reader: ExportReader,
  older: number,
  size: number,
): Promise<Uint8Array> {
  if (older === 0) return EMPTY_ROOT;
  const nodes = createTileNodeReader(size, async (tile) => {
    const file = await readTileFile(reader, tile, TILE_WIDTH * HASH_BYTES);
    if (file === undefined) throw new TypeError("a tile of the verified export is missing");
    return file.bytes.subarray(0, tile.width * HASH_BYTES);
  });
  return rootFromNodes(older, nodes);
}
