import { canonicalJson, parseJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/**
 * The digest of a text or of any other value.
 *
 * Clients leave out what is empty, write it as null or as an empty text; the three are one. Text is hashed
 * as it is, so that a message can be hashed piece by piece.
 */
export function digestOf(value: unknown): string {
  if (value === undefined || value === null) return EMPTY_DIGEST;
  return typeof value === "string"
    ? sha256Hex(value)
    : sha256Hex(`json:${canonicalJson(value as JsonValue)}`);
}

/** The digest of nothing. */
export const EMPTY_DIGEST: string = sha256Hex("");

/** The digest of a call's arguments by their value; what is no JSON counts as the text it is. */
export function meaningOf(text: string): string {
  try {
    // Models send an empty text for a tool without parameters, and every client reads it as {}.
    return digestOf(text === "" ? {} : parseJson(text));
  } catch {
    return digestOf(text);
  }
}
