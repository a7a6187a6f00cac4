const LONE_SURROGATE = /\p{Surrogate}/u;

const native = (String.prototype as { isWellFormed?: (this: string) => boolean }).isWellFormed;

/**
 * Whether a string contains no half of a surrogate pair, and so can be encoded in UTF-8; the
 * runtime's method is six times as fast as a regular expression.
 */
export const isWellFormed: (text: string) => boolean =
  native === undefined ? (text) => !LONE_SURROGATE.test(text) : (text) => native.call(text);
