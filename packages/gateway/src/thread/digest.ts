import { canonicalJson, parseLeniently, parseJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** No text begins with this byte in UTF-8, so no text has the digest of a value. */
const VALUE = Buffer.of(0xff);

/**
 * The digest of a text or of any other value.
 *
 * Clients leave out what is empty, write it as null or as an empty text; the three are one. Text is hashed
 * as it is, so that a message can be hashed piece by piece.
 */
export function digestOf(value: unknown): string {
  if (value === undefined || value === null || value === "") return EMPTY_DIGEST;
  return typeof value === "string" ? sha256Hex(value) : digestOfValue(value as JsonValue);
}

/** The digest of a JSON value; a text is a value here like any other. */
export function digestOfValue(value: JsonValue): string {
  return sha256Hex(Buffer.concat([VALUE, Buffer.from(canonicalJson(value))]));
}

/** The digest of nothing. */
export const EMPTY_DIGEST: string = sha256Hex("");

/** What the arguments of a call mean, as digests. */
export type Readings = {
  readonly arguments: string;
  /** By what `JSON.parse` reads in arguments that {@link parseJson} refuses, such as those with a duplicate key. */
  readonly lenient?: string;
};

/** Reads the arguments of a call as the gateway does, and where it refuses to, as clients do. */
export function readingsOf(text: string): Readings {
  try {
    // Models send an empty text for a tool without parameters, and every client reads it as {}.
    return { arguments: digestOfValue(text === "" ? {} : parseJson(text)) };
  } catch {
    const lenient = lenientMeaningOf(text);
    return { arguments: digestOf(text), ...(lenient === undefined ? {} : { lenient }) };
  }
}

/** The digest of a call's arguments by their value; what is no JSON counts as the text it is. */
export function meaningOf(text: string): string {
  return readingsOf(text).arguments;
}

function lenientMeaningOf(text: string): string | undefined {
  const value = parseLeniently(text);
  try {
    return value === undefined ? undefined : digestOfValue(value);
  } catch {
    // It holds what no canonical JSON can: no text that the gateway reads means the same.
    return undefined;
  }
}
