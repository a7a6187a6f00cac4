/** From this value on ECMAScript writes a number with an exponent (Number::toString). */
const EXPONENT_FORM = 1e21;

/**
 * Whether a number literal round-trips: the parsed value is the value the peer wrote, and the
 * written form parses again.
 *
 * Rejected are infinities, integer literals beyond ±(2^53−1), and numbers in that range with a
 * fraction or an exponent below 1e21, because re-serializing would write them as such integers.
 * `6.02e23` is accepted: it is written as `6.02e+23`, a float for every reader.
 */
export function isSafeNumber(literal: string, value: number): boolean {
  const size = Math.abs(value);
  if (size <= Number.MAX_SAFE_INTEGER) return true;
  if (size < EXPONENT_FORM || size === Infinity) return false;
  return /[.eE]/.test(literal);
}
