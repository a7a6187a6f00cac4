import type { TileName } from "../tiles/path.js";
import { TILE_WIDTH, tilePath } from "../tiles/path.js";

/**
 * The source of an export: a directory, an archive, a web server. A missing file is `undefined`; a
 * rejection means that a file could not be read and the verification cannot finish.
 */
export interface ExportReader {
  /** The whole file. May reject a file of more than `maxBytes`. */
  read(path: string, maxBytes: number): Promise<Uint8Array | undefined>;
  /** The file in pieces, for the one that grows with the log. */
  stream(path: string): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array> | undefined>;
}

/** Names of the files of an export. */
export const EXPORT_FILES = {
  checkpoint: "checkpoint",
  vkey: "log.vkey",
  keys: "keys.jsonl",
  receipts: "receipts.jsonl",
  readme: "README.md",
  proofs: "proofs",
  removed: "removed.json",
  manifest: "manifest.scitt",
  keySet: "keys.cbor",
  statements: "statements",
} as const;

/** Path of the transparent statement of an entry in an export of statements. */
export function statementPath(seq: number): string {
  return `${EXPORT_FILES.statements}/${seq}.scitt`;
}

/** Reads a partial tile or bundle, or the full one that replaced it (C2SP tlog-tiles). */
export async function readTileFile(
  reader: ExportReader,
  tile: TileName,
  maxBytes: number,
): Promise<{ bytes: Uint8Array; isLarger: boolean } | undefined> {
  const bytes = await reader.read(tilePath(tile), maxBytes);
  if (bytes !== undefined) return { bytes, isLarger: false };
  if (tile.width === TILE_WIDTH) return undefined;
  const full = await reader.read(tilePath({ ...tile, width: TILE_WIDTH }), maxBytes);
  return full === undefined ? undefined : { bytes: full, isLarger: true };
}
