/** An identifier as programs use it for a key, or a position of a list; any other key may contain a person's words. */
const PLAIN = /^(?:[A-Za-z_$][\w$.-]{0,39}|\d{1,10}|-)$/;
const MAX_POINTER = 256;

/**
 * The JSON Pointer (RFC 6901) of a path, for receipts. Agents and clients choose the keys: the pointer ends above a key
 * that is not a plain identifier, and after 256 characters.
 */
export function plainPointer(path: readonly (string | number)[]): string {
  let pointer = "";
  for (const key of path) {
    const step = `/${key}`;
    if (!PLAIN.test(step.slice(1)) || pointer.length + step.length > MAX_POINTER) break;
    pointer += step;
  }
  return pointer;
}
