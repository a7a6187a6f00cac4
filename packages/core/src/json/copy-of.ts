/**
 * A copy of a part of a text: a slice, or a chain of slices, would keep the whole network buffer
 * alive.
 */
export function copyOf(text: string): string {
  return ` ${text}`.slice(1);
}
