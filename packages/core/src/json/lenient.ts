import type { JsonValue } from "./value.js";

/**
 * The result of `JSON.parse`, `undefined` when it throws. It accepts what {@link parseJson}
 * rejects: the last value of a duplicate key, numbers that lose digits, lone surrogates. Use it to
 * find out how another program reads a text, never to read values that are evaluated and forwarded.
 */
export function parseLeniently(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
