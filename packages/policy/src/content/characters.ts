const VERTICAL_TAB = 0x0b;
const FORM_FEED = 0x0c;

/** White space of HTML, to which a vertical tab does not belong. */
export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== VERTICAL_TAB);
}

/** White space to some renderers, and to others a character like any. */
export function isDoubtfulSpace(code: number): boolean {
  return code === VERTICAL_TAB || code === FORM_FEED;
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
