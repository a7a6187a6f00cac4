/** From here on ECMAScript writes a number with an exponent (Number::toString). */
const EXPONENT_FORM = 1e21;

/**
 * Whether a number literal survives: what is read is what a peer wrote, and what is written again is
 * readable again.
 *
 * Refused are infinities, integer literals beyond ±(2^53−1), and numbers in that region written with
 * a fraction or an exponent below 1e21, because re-serialising would spell them as such integers.
 * `6.02e23` passes: it is written as `6.02e+23`, a float for every reader.
 */
export function isSafeNumber(literal: string, value: number): boolean {
  const size = Math.abs(value);
  if (size <= Number.MAX_SAFE_INTEGER) return true;
  if (size < EXPONENT_FORM || size === Infinity) return false;
  return /[.eE]/.test(literal);
}
