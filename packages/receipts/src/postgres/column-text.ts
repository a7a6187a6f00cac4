import { createHash } from "node:crypto";

/** PostgreSQL limits an index row to 2,704 bytes, other columns and a header included. */
const MAX_BYTES = 2000;
const BYTES_A_UNIT = 3;
const SHOWN = 200;
const NUL = "\u0000";

/**
 * The column value of a text. Clients choose their ids, and one row that the database rejects fails
 * the whole flush: a text with U+0000, or too long for an index, is stored as its first characters
 * and its hash. The entry itself keeps the whole text.
 */
export function columnText(text: string): string {
  if (!text.includes(NUL)) {
    if (text.length * BYTES_A_UNIT <= MAX_BYTES || Buffer.byteLength(text) <= MAX_BYTES)
      return text;
  }
  const hash = createHash("sha256").update(text).digest("hex");
  // By code points: a lone surrogate is not valid text for a database.
  const beginning = [...text].slice(0, SHOWN).join("");
  return `${beginning.replaceAll(NUL, "\uFFFD")}…${hash}`;
}
