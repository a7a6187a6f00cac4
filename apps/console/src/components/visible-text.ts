/** A part of a text, or the escape of one invisible character. */
export type TextPart = { readonly text: string; readonly isEscape: boolean };

/**
 * Characters that hide, reorder or join text: controls, directions, zero widths, tags, variation selectors,
 * private characters and lone surrogates. With one of them in a name, an agent could display another name to
 * the operator than the log holds.
 */
const UNSEEN =
  /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}\u2800\ufffc]|(?! )\p{Zs}/gu;

/** Splits text so that each invisible character can be displayed by its code point. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let end = 0;
  for (const match of text.matchAll(UNSEEN)) {
    if (match.index > end) parts.push({ text: text.slice(end, match.index), isEscape: false });
    parts.push({ text: escapeOf(match[0]), isEscape: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) parts.push({ text: text.slice(end), isEscape: false });
  return parts;
}

/** Text with everything unseen by its number, for places that take no markup. */
export function visibleText(text: string): string {
  return visibleParts(text)
    .map((part) => part.text)
    .join("");
}

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `\\u{${code.toString(16)}}`;
}
