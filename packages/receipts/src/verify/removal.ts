import { decodeUtf8, isCountersignError, isJsonObject, parseJson } from "@countersign/core";
import { decodeEntry } from "../entry/decode-entry.js";
import { removedBefore } from "../entry/retention.js";
import { HASH_BYTES } from "../merkle/hash.js";
import { MAX_BUNDLE_BYTES, decodeBundle } from "../tiles/bundle.js";
import { tileWidth } from "../tiles/layout.js";
import { TILE_WIDTH } from "../tiles/path.js";
import { resumeTree } from "../tiles/resume.js";
import type { ResumedTree } from "../tiles/resume.js";
import { EXPORT_FILES, readTileFile } from "./reader.js";
import type { ExportReader } from "./reader.js";
import { failed, held } from "./result.js";
import type { Check } from "./result.js";

const ID = "entries-removed";
const MAX_BYTES = 1024;

/** Entries that an export does not have, and the tree after them. */
export type Removal = { readonly check: Check; readonly tree?: ResumedTree };

/**
 * Reads which entries were removed because of their age; undefined when the export claims to be
 * complete. The claim counts only with an entry of the log that announces the removal: that entry
 * and the hashes used here are verified with the rest of the tree.
 */
export async function readRemoval(
  reader: ExportReader,
  size: number,
): Promise<Removal | undefined> {
  const bytes = await reader.read(EXPORT_FILES.removed, MAX_BYTES);
  if (bytes === undefined) return undefined;
  const claim = parseClaim(bytes, size);
  if (claim === undefined) return { check: failed(ID, "removed.json cannot be read") };
  const { first, announcement } = claim;
  try {
    const announced = await readAnnouncement(reader, announcement, size);
    if (announced === undefined || announced < first) {
      return { check: failed(ID, `entry ${announcement} does not announce it`, announcement) };
    }
    const tree = await resumeTree(first, async (tile) => {
      // The tile has grown since: the removed entries fill its beginning.
      const grown = { ...tile, width: tileWidth(tile.level, tile.index, size) };
      const file = await readTileFile(reader, grown, TILE_WIDTH * HASH_BYTES);
      return file?.bytes.subarray(0, tile.width * HASH_BYTES) ?? new Uint8Array(0);
    });
    const detail = `entries 0 to ${first - 1} were removed because of their age; entry ${announcement} announces it`;
    return { check: held(ID, detail), tree };
  } catch (error) {
    // Tiles of the wrong length, or an entry that cannot be decoded.
    if (!isCountersignError(error) && !(error instanceof TypeError)) throw error;
    return { check: failed(ID, "the hashes of the removed entries are missing", first) };
  }
}

function parseClaim(
  bytes: Uint8Array,
  size: number,
): { first: number; announcement: number } | undefined {
  let value;
  try {
    value = parseJson(decodeUtf8(bytes) ?? "");
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return undefined;
  const { first, announcement } = value;
  const isPlace = (number: unknown): number is number =>
    Number.isSafeInteger(number) && (number as number) > 0 && (number as number) < size;
  if (!isPlace(first) || first % TILE_WIDTH !== 0 || !isPlace(announcement)) return undefined;
  return announcement < first ? undefined : { first, announcement };
}

async function readAnnouncement(
  reader: ExportReader,
  seq: number,
  size: number,
): Promise<number | undefined> {
  const index = Math.floor(seq / TILE_WIDTH);
  const width = Math.min(TILE_WIDTH, size - index * TILE_WIDTH);
  const file = await readTileFile(reader, { level: "entries", index, width }, MAX_BUNDLE_BYTES);
  if (file === undefined) return undefined;
  const entries = decodeBundle(file.bytes, file.isLarger ? TILE_WIDTH : width);
  const bytes = entries[seq - index * TILE_WIDTH];
  return bytes === undefined ? undefined : removedBefore(decodeEntry(bytes));
}
