/** A part of a text, copied: a slice, or a chain of slices, would keep the whole network read alive as long as itself. */
export function copyOf(text: string): string {
  return ` ${text}`.slice(1);
}
