import { canonicalJson, parseLeniently, parseJson, sha256Hex } from "@countersign/core";
import type { JsonValue } from "@countersign/core";

/** No UTF-8 text begins with this byte, so no text has the digest of a value. */
const VALUE = Buffer.of(0xff);

/**
 * The digest of a text or of any other value.
 *
 * Clients omit an empty field, or send null or an empty text; all three have one digest. Text is
 * hashed as it is, so that a message can be hashed incrementally.
 */
export function digestOf(value: unknown): string {
  if (value === undefined || value === null || value === "") return EMPTY_DIGEST;
  return typeof value === "string" ? sha256Hex(value) : digestOfValue(value as JsonValue);
}

/** The digest of a JSON value; a text is hashed as a JSON string. */
export function digestOfValue(value: JsonValue): string {
  return sha256Hex(Buffer.concat([VALUE, Buffer.from(canonicalJson(value))]));
}

/** The digest of an empty field. */
export const EMPTY_DIGEST: string = sha256Hex("");

/** Digests of the parsed arguments of a call. */
export type Readings = {
  readonly arguments: string;
  /**
   * The digest of what `JSON.parse` reads in arguments that the gateway rejects, such as those with a duplicate key.
   */
  readonly lenient?: string;
};

/** Reads the arguments of a call as the gateway does, and where the gateway rejects them, as clients do. */
export function readingsOf(text: string): Readings {
  try {
    // Models send an empty text for a tool without parameters, and every client reads it as {}.
    return { arguments: digestOfValue(text === "" ? {} : parseJson(text)) };
  } catch {
    const lenient = lenientMeaningOf(text);
    return { arguments: digestOf(text), ...(lenient === undefined ? {} : { lenient }) };
  }
}

/** The digest of a call's arguments by their value; arguments that are not JSON are hashed as text. */
export function meaningOf(text: string): string {
  return readingsOf(text).arguments;
}

function lenientMeaningOf(text: string): string | undefined {
  const value = parseLeniently(text);
  try {
    return value === undefined ? undefined : digestOfValue(value);
  } catch {
    // The value has no canonical JSON, so no text that the gateway reads equals it.
    return undefined;
  }
}
