import type { JsonValue } from "@countersign/core";
import { canonicalJson, parseJson, sha256Hex } from "@countersign/core";
import { MAX_CHIO_BYTES } from "../model/limits.js";

/** JSON in which whole numbers beyond 2^53 keep their digits. */
export type Lossless =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly Lossless[]
  | { readonly [name: string]: Lossless };

/** A Chio token as data, with the exact text that was signed. */
export type LosslessDocument = {
  readonly value: Lossless;
  /** The canonical JSON of a part of the document's own JSON. */
  canonical(part: JsonValue): string;
  /** The document with long integers replaced by marked strings; only for `canonical`. */
  readonly json: JsonValue;
};

const LONG_INTEGER = /[0-9]{16}/;
// A string to its end (or to the end of the text, so that an open quote is scanned only once), or a
// long integer that is not part of a longer number.
const TOKENS = /"(?:[^"\\]|\\[\s\S])*(?:"|\\?$)|(?<![0-9.eE+-])-?[1-9][0-9]{15,}(?![0-9.eE])/g;

/**
 * Reads a token as text or as parsed JSON. Chio's times are 64-bit integers, which a double cannot
 * represent. In text they are replaced by strings with a prefix that the text cannot contain: its
 * own hash.
 *
 * @throws CountersignError one of the `ERR_JSON_…` codes
 */
export function readLossless(input: JsonValue): LosslessDocument {
  if (typeof input !== "string" || !LONG_INTEGER.test(input)) {
    const json = typeof input === "string" ? parseJson(input, { maxBytes: MAX_CHIO_BYTES }) : input;
    return { value: json, json, canonical: canonicalJson };
  }
  const mark = `${sha256Hex(input)}:`;
  const marked = input.replace(TOKENS, (token) =>
    token.startsWith('"') ? token : `"${mark}${token}"`,
  );
  const json = parseJson(marked, { maxBytes: 4 * MAX_CHIO_BYTES });
  const unmark = new RegExp(`"${mark}(-?[0-9]+)"`, "g");
  return {
    json,
    value: restore(json, mark),
    canonical: (part) => canonicalJson(part).replace(unmark, "$1"),
  };
}

function restore(value: JsonValue, mark: string): Lossless {
  if (typeof value === "string") {
    return value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
  }
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => restore(item, mark));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, restore(item, mark)]),
  );
}
