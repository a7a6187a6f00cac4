/**
 * Characters that control a terminal or are invisible. These are controls (C0, DEL, C1), format
 * characters (bidirectional controls, tags, zero-width characters), variation selectors and
 * fillers. Line separators, spaces other than U+0020, lone surrogates, and private or unassigned
 * code points count too.
 */
const UNPRINTABLE = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\u2800\ufffc]|(?! )\p{Zs}/gu;

/**
 * A text as one line that a terminal only displays: every other character is written as `\u{HEX}`.
 */
export function printableText(text: string): string {
  return text.replace(UNPRINTABLE, (found) => `\\u{${(found.codePointAt(0) ?? 0).toString(16)}}`);
}

/**
 * The same JSON value as text that a terminal only displays: every other character is written as
 * `\uXXXX`. Line feeds stay: outside of strings they only separate, and JSON strings contain none.
 */
export function printableJson(json: string): string {
  return json.replace(UNPRINTABLE, (found) => {
    if (found === "\n") return found;
    return found.replace(
      /[\s\S]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
  });
}
