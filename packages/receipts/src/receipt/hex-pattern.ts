/**
 * A pattern of lower-case hex digits in groups of eight: single digits take V8 three times as long.
 */
export function hexDigits(count: number): string {
  return `(?:${"[0-9a-f]".repeat(8)}){${count / 8}}`;
}
