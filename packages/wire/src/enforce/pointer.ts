/**
 * Whether text is an RFC 6901 pointer: empty, or tokens each led by `/`, with `~` only as `~0` or `~1`.
 *
 * A scan instead of the schema's regular expression, whose nested repetition keeps one backtracking entry
 * per character and so fails on very long input.
 */
export function isPointer(text: string): boolean {
  if (text === "") return true;
  if (text.charCodeAt(0) !== 0x2f) return false;
  for (let at = text.indexOf("~"); at !== -1; at = text.indexOf("~", at + 1)) {
    const escaped = text.charCodeAt(at + 1);
    if (escaped !== 0x30 && escaped !== 0x31) return false;
  }
  return true;
}
