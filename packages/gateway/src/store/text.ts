/**
 * Encodes text for a database: U+0000 ends text in SQLite, PostgreSQL rejects it, and clients
 * choose ids. Two ids that differ only after it must not become one row.
 */
export function encodeText(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\u0000", "%00");
}

/** Decodes text that {@link encodeText} encoded. */
export function decodeText(text: string): string {
  return text.replaceAll("%00", "\u0000").replaceAll("%25", "%");
}
