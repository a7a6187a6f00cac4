// Separate from the table of all limits, so that a page that only parses and verifies does not
// include it.

/** Bytes of a mebibyte. */
export const MEBIBYTE = 1024 * 1024;

/** Bytes of one JSON text. */
export const DEFAULT_TEXT_BYTES = 10 * MEBIBYTE;

/**
 * Nesting: common canonicalizers overflow their stack near 5,000; real state documents stay below
 * 20.
 */
export const DEFAULT_DEPTH = 64;

/** Throws a TypeError unless the value is a positive safe integer. */
export function assertPositiveInteger(name: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw new TypeError(`${name} must be a positive integer`);
  }
}
