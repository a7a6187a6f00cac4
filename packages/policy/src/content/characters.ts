const VERTICAL_TAB = 0x0b;
const FORM_FEED = 0x0c;
const FOREIGN_SPACE: ReadonlySet<number> = new Set([
  0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x2424, 0x3000, 0xfeff,
]);

/** White space of HTML, without the vertical tab. */
export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== VERTICAL_TAB);
}

/** White space for some renderers, and an ordinary character for others. */
export function isDoubtfulSpace(code: number): boolean {
  return code === VERTICAL_TAB || code === FORM_FEED;
}

/**
 * White space for the regular expressions of renderers, which separates attributes for them, but
 * part of a name or a value for a browser.
 */
export function isForeignSpace(code: number): boolean {
  if (code < 0x80) return code === VERTICAL_TAB || (code >= 0x1c && code <= 0x1f);
  return code === 0x85 || FOREIGN_SPACE.has(code) || (code >= 0x2000 && code <= 0x200a);
}

/** A letter of ASCII. */
export function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

/** A letter or digit of ASCII. */
export function isAlphanumeric(code: number): boolean {
  return isLetter(code) || (code >= 0x30 && code <= 0x39);
}
