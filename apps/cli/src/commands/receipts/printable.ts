// Agents choose part of what receipts say. Written to a terminal as it is, a control character could move
// the cursor over the decision beside it, and a bidirectional override could turn the line around.
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** A text as one line that a terminal only shows, never obeys. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (found) => {
    const point = found.codePointAt(0) ?? 0;
    return `\\u{${point.toString(16)}}`;
  });
}
