import { RE2JS } from "re2js";

/** A compiled pattern that matches in time linear in the text. */
export type LinearPattern = { test(text: string): boolean };

/** The maximum length of a pattern in a policy. */
export const MAX_PATTERN_LENGTH = 512;

/**
 * Compiles with RE2 semantics: no backtracking, so no text makes it slow. Throws on unsupported
 * syntax (look-around, back-references) and on patterns longer than a policy needs.
 */
export function compilePattern(source: string, flags = ""): LinearPattern {
  if (source.length > MAX_PATTERN_LENGTH) {
    throw new RangeError(`pattern is longer than ${MAX_PATTERN_LENGTH} characters`);
  }
  const options = flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0;
  const compiled = RE2JS.compile(source, options);
  return { test: (text) => compiled.test(text) };
}
