import { createHash } from "node:crypto";

/** An index of PostgreSQL takes 2,704 bytes, other columns and a header included. */
const MAX_BYTES = 2000;
const BYTES_A_UNIT = 3;
const SHOWN = 200;
const NUL = "\u0000";

/**
 * A text as a column takes it. Ids are anybody's choice, and one row that the database refuses takes with it everything that is flushed
 * beside it: a text with U+0000, or too long for an index, is filed under its beginning and its hash. The entry itself is kept whole.
 */
export function filedText(text: string): string {
  if (!text.includes(NUL)) {
    if (text.length * BYTES_A_UNIT <= MAX_BYTES || Buffer.byteLength(text) <= MAX_BYTES)
      return text;
  }
  const hash = createHash("sha256").update(text).digest("hex");
  // By characters: half of one is no text for a database.
  const beginning = [...text].slice(0, SHOWN).join("");
  return `${beginning.replaceAll(NUL, "\uFFFD")}…${hash}`;
}
