import type { JsonValue } from "./value.js";

/**
 * What `JSON.parse` reads in a text, `undefined` where it reads nothing. It takes what {@link parseJson} refuses: of a
 * duplicate key the last value, numbers that lose digits, lone surrogates. Use it to ask what another program sees, never
 * to read what is judged and passed on.
 */
export function parseAsClientsDo(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
