/** White space of HTML. */
export function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d);
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
