/** How deep the brackets of an expression are nested, those inside string literals left out. */
export function bracketDepth(source: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < source.length; index += 1) {
    const character = source.charAt(index);
    if (character === '"' || character === "'") index = endOfLiteral(source, index, character);
    else if ("([{".includes(character)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (")]}".includes(character)) depth -= 1;
  }
  return deepest;
}

/** The last character of a literal; the end of the text when it is not closed. */
function endOfLiteral(source: string, start: number, quote: string): number {
  const raw = start > 0 && /[rR]/.test(source.charAt(start - 1));
  const triple = quote.repeat(3);
  const closing = source.startsWith(triple, start) ? triple : quote;
  for (let index = start + closing.length; index < source.length; index += 1) {
    if (!raw && source.charAt(index) === "\\") index += 1;
    else if (source.startsWith(closing, index)) return index + closing.length - 1;
  }
  return source.length;
}
