/**
 * Text as a database can keep it, and back: U+0000 ends text in SQLite and is refused by PostgreSQL, and
 * ids are anybody's choice. Two ids that differ only behind it must not be one row.
 */
export function encodeText(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\u0000", "%00");
}

/** The text again. */
export function decodeText(text: string): string {
  return text.replaceAll("%00", "\u0000").replaceAll("%25", "%");
}
