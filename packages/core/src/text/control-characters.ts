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
