import type { JsonObject, JsonValue } from "@countersign/core";
import { canonicalJson, decodeUtf8, isJsonObject, ownMember, parseJson } from "@countersign/core";
import { utf8 } from "../receipt/canonical-text.js";
import { malformed } from "./cbor.js";

/** The media type of the manifest of an export of statements. */
export const MANIFEST_CONTENT_TYPE = "application/vnd.countersign.manifest+json";
const SCHEMA = "countersign.statements.v1";
/** About a million ranges. */
export const MAX_MANIFEST_BYTES = 32 * 1024 * 1024;
const HEX_HASH = /^[0-9a-f]{64}$/;
const MEMBERS = 4;

/** Entries from the first to the last, both included. */
export type EntryRange = readonly [first: number, last: number];

/** The statements of an export, and the tree that their receipts prove. */
export type Manifest = {
  readonly size: number;
  /** Lower-case hex. */
  readonly root: string;
  /** Ascending, apart from each other. */
  readonly entries: readonly EntryRange[];
};

/** The canonical JSON of a manifest: the payload of its statement. */
export function encodeManifest({ size, root, entries }: Manifest): Uint8Array {
  const ranges = entries.map(([first, last]): JsonValue => [first, last]);
  return utf8(canonicalJson({ schema: SCHEMA, size, root, entries: ranges }));
}

/** Reads a manifest; only its canonical form is one. */
export function decodeManifest(bytes: Uint8Array): Manifest {
  const part = "the manifest";
  let value: JsonValue;
  try {
    value = parseJson(bytes, { maxBytes: MAX_MANIFEST_BYTES });
  } catch {
    throw malformed(part, "not JSON");
  }
  if (!isJsonObject(value) || Object.keys(value).length !== MEMBERS) {
    throw malformed(part, "not its members");
  }
  if (ownMember(value, "schema") !== SCHEMA) throw malformed(part, "schema");
  const [size, root] = [ownMember(value, "size"), ownMember(value, "root")];
  if (!isCount(size)) throw malformed(part, "size");
  if (typeof root !== "string" || !HEX_HASH.test(root)) throw malformed(part, "root");
  const manifest = { size, root, entries: rangesOf(value, size) };
  if (decodeUtf8(encodeManifest(manifest)) !== decodeUtf8(bytes)) {
    throw malformed(part, "not canonical JSON");
  }
  return manifest;
}

function rangesOf(value: JsonObject, size: number): EntryRange[] {
  const list = ownMember(value, "entries");
  if (!Array.isArray(list)) throw malformed("the manifest", "entries");
  let end = -1;
  return list.map((range) => {
    const [first, last] = Array.isArray(range) ? range : [];
    const isNext =
      isCount(first) &&
      isCount(last) &&
      first > end &&
      first <= last &&
      last < size &&
      Array.isArray(range) &&
      range.length === 2;
    if (!isNext) throw malformed("the manifest", "the ranges are not ascending");
    // Neighbours make one range: one list has one spelling.
    end = last + 1;
    return [first, last];
  });
}

function isCount(value: JsonValue | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Collects ascending entry numbers as ranges. */
export function createRanges(): { add(seq: number): void; ranges(): EntryRange[] } {
  const list: [number, number][] = [];
  return {
    add(seq) {
      const last = list.at(-1);
      if (last !== undefined && seq === last[1] + 1) last[1] = seq;
      else list.push([seq, seq]);
    },
    ranges: () => list,
  };
}
