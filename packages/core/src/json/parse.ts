import { CountersignError } from "../errors/error.js";
import { assertPositiveInteger, DEFAULT_DEPTH, DEFAULT_TEXT_BYTES } from "../limits/text-limits.js";
import { isProvablyStrict } from "./strict-proof.js";
import { parseReporting } from "./reporting-parser.js";
import { decodeUtf8, invalidUtf8Offset, utf8Length } from "./utf8.js";
import { isWellFormed } from "./well-formed.js";
import type { JsonValue } from "./value.js";

/** Limits of one JSON text. */
export interface JsonLimits {
  /** UTF-8 bytes of the text; 10 MiB by default. */
  readonly maxBytes: number;
  /** Nesting of arrays and objects: default 64, at most 1,000 (the reporting parser recurses). */
  readonly maxDepth: number;
  /** Values of every kind, containers included; by default limited only by the bytes. */
  readonly maxValues: number;
}

const HIGHEST_DEPTH = 1000;

/**
 * Parses JSON that has exactly one meaning (RFC 8259 narrowed to I-JSON, RFC 7493).
 *
 * Rejects, with the byte offset, text that is not JSON or not UTF-8, a byte order mark, a duplicate
 * key, and half of a surrogate pair. Rejects a number that a double cannot represent, and too many
 * bytes, levels or values. A key named `__proto__` becomes an ordinary own property.
 *
 * @throws CountersignError one of the `ERR_JSON_…` codes
 * @throws TypeError when a limit is not a positive integer
 */
export function parseJson(input: string | Uint8Array, limits?: Partial<JsonLimits>): JsonValue {
  let maxBytes = DEFAULT_TEXT_BYTES;
  let maxDepth = DEFAULT_DEPTH;
  let maxValues = Number.MAX_SAFE_INTEGER;
  if (limits !== undefined) {
    maxBytes = limits.maxBytes ?? maxBytes;
    maxDepth = limits.maxDepth ?? maxDepth;
    maxValues = limits.maxValues ?? maxValues;
    assertPositiveInteger("maxBytes", maxBytes);
    assertPositiveInteger("maxDepth", maxDepth);
    assertPositiveInteger("maxValues", maxValues);
    if (maxDepth > HIGHEST_DEPTH) throw new TypeError(`maxDepth may be ${HIGHEST_DEPTH} at most`);
  }
  const text = typeof input === "string" ? boundedText(input, maxBytes) : utf8(input, maxBytes);
  // Text decoded from UTF-8 is well-formed already; for one-byte strings the engine knows at once.
  if (
    (typeof input !== "string" || isWellFormed(text)) &&
    isProvablyStrict(text, maxDepth, maxValues)
  ) {
    try {
      return JSON.parse(text) as JsonValue;
    } catch {
      // Not JSON: the reporting parser reports the position.
    }
  }
  return parseReporting(text, maxDepth, maxValues);
}

function boundedText(text: string, maxBytes: number): string {
  // No code unit takes more than three bytes, so the common case needs no counting.
  if (text.length * 3 > maxBytes && (text.length > maxBytes || utf8Length(text) > maxBytes)) {
    throw tooLarge(maxBytes);
  }
  return text;
}

function utf8(bytes: Uint8Array, maxBytes: number): string {
  if (bytes.length > maxBytes) throw tooLarge(maxBytes);
  const text = decodeUtf8(bytes);
  if (text === undefined) {
    const offset = invalidUtf8Offset(bytes);
    throw new CountersignError("ERR_JSON_UTF8", `not UTF-8 at byte ${offset}`, { offset });
  }
  return text;
}

function tooLarge(allowed: number): CountersignError {
  return new CountersignError("ERR_JSON_TOO_LARGE", `more than ${allowed} bytes`, {
    allowed,
    offset: allowed,
  });
}
