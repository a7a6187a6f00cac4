/** A word as programs use it for a key; anything else could be what somebody said. */
const PLAIN = /^[A-Za-z_$][\w$.-]{0,39}$/;

/**
 * The place of a part of a request, as a JSON Pointer (RFC 6901), for answers and receipts.
 *
 * Keys are the client's words. One that is no plain word is not repeated: the pointer ends above it.
 */
export function pointerTo(...steps: readonly (string | number)[]): string {
  let pointer = "";
  for (const step of steps) {
    if (typeof step === "string" && !isPlainKey(step)) break;
    pointer += `/${step}`;
  }
  return pointer;
}

/** Whether a key may be named in an answer and on record. */
export function isPlainKey(key: string): boolean {
  return PLAIN.test(key);
}
