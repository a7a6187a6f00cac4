/**
 * An RE2 pattern for an I-Regexp (RFC 9485): `match` is anchored, a dot outside a class excludes line
 * breaks only. RE2 accepts more than I-Regexp; a pattern outside both matches nothing.
 */
export function regexOfIRegexp(pattern: string, anchored: boolean): string {
  let body = "";
  let inClass = false;
  for (let index = 0; index < pattern.length; index += 1) {
    const character = pattern.charAt(index);
    if (character === "\\") {
      body += pattern.slice(index, index + 2);
      index += 1;
    } else if (character === "." && !inClass) body += "[^\\n\\r]";
    else {
      if (character === "[") inClass = true;
      else if (character === "]") inClass = false;
      body += character;
    }
  }
  return anchored ? `^(?:${body})$` : body;
}
