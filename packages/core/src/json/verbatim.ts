// A regular expression takes 50 ns for thirty characters, a loop 90: it flattens a slice only once.
const NOT_VERBATIM = /["\\\p{Cc}\p{Cs}]/u;

/**
 * Whether a text needs no escapes in a JSON string: no quote, no backslash, no control character,
 * no half of a surrogate pair. Stricter than JSON by U+007F to U+009F.
 */
export function isVerbatim(text: string): boolean {
  return !NOT_VERBATIM.test(text);
}
