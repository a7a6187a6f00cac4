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

const PLAIN = /^[\x20-\x7e]*$/;
const CONTROL = /[\p{Cc}\p{Bidi_Control}\u2028\u2029\u{E0000}-\u{E007F}]/u;
/**
 * The flags of England, Scotland and Wales: a black flag, letters in tag characters, and a last
 * tag.
 */
const FLAG = /\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,6}\u{E007F}/gu;

/**
 * Whether a name contains an invisible character, or one that changes how other text appears. These
 * are control characters, line and paragraph separators, controls of the writing direction, and tag
 * characters outside of a flag.
 */
export function hasControlCharacter(name: string): boolean {
  return !PLAIN.test(name) && CONTROL.test(name.replace(FLAG, ""));
}
