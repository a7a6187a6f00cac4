import type { CountersignError } from "@countersign/core";
import { formatError } from "../receipt/errors.js";

/** Hashes in a full tile, entries in a full bundle. */
export const TILE_WIDTH = 256;

/** A tile of hashes (level 0 to 63) or a bundle of entries, full or partial. */
export type TileName = {
  readonly level: number | "entries";
  readonly index: number;
  /** 1 to 256; 256 is a full tile. */
  readonly width: number;
};

const PATH = /^tile\/(entries|0|[1-9]\d?)\/((?:x\d{3}\/)*\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

function malformed(reason: string): CountersignError {
  return formatError("ERR_TILE_MALFORMED", `not a tile: ${reason}`, { reason });
}

/** `1234067` as `x001/x234/067`. */
function encodeIndex(index: number): string {
  let text = String(index % 1000).padStart(3, "0");
  for (let rest = Math.floor(index / 1000); rest > 0; rest = Math.floor(rest / 1000)) {
    text = `x${String(rest % 1000).padStart(3, "0")}/${text}`;
  }
  return text;
}

/** Path of a tile or bundle below the log's prefix (C2SP tlog-tiles). */
export function tilePath(tile: TileName): string {
  const { level, index, width } = tile;
  if (level !== "entries" && (!Number.isInteger(level) || level < 0 || level > 63)) {
    throw new TypeError("a tile level is 0 to 63");
  }
  if (!Number.isSafeInteger(index) || index < 0)
    throw new TypeError("a tile index is not negative");
  if (!Number.isInteger(width) || width < 1 || width > TILE_WIDTH) {
    throw new TypeError("a tile is 1 to 256 wide");
  }
  const partial = width === TILE_WIDTH ? "" : `.p/${width}`;
  return `tile/${level}/${encodeIndex(index)}${partial}`;
}

/** Path of an entry bundle. */
export function entriesPath(index: number, width: number = TILE_WIDTH): string {
  return tilePath({ level: "entries", index, width });
}

/** Parses a path; only the canonical form is accepted. */
export function parseTilePath(path: string): TileName {
  const match = PATH.exec(path);
  if (match === null) throw malformed("path");
  const level = match[1] === "entries" ? "entries" : Number(match[1]);
  const index = Number((match[2] ?? "").replaceAll(/[x/]/g, ""));
  const width = match[3] === undefined ? TILE_WIDTH : Number(match[3]);
  if (!Number.isSafeInteger(index)) throw malformed("index");
  if (level !== "entries" && level > 63) throw malformed("level");
  if (match[3] !== undefined && width >= TILE_WIDTH) throw malformed("width");
  const name: TileName = { level, index, width };
  if (tilePath(name) !== path) throw malformed("path");
  return name;
}
