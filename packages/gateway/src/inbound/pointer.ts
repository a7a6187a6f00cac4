/** An identifier as programs use it for a key; any other key may contain a person's words. */
const PLAIN = /^[A-Za-z_$][\w$.-]{0,39}$/;

/**
 * Returns the JSON Pointer (RFC 6901) of a part of a request, for responses and receipts.
 *
 * The client chooses the keys. The pointer ends above a key that is not a plain identifier.
 */
export function pointerTo(...steps: readonly (string | number)[]): string {
  let pointer = "";
  for (const step of steps) {
    if (typeof step === "string" && !isPlainKey(step)) break;
    pointer += `/${step}`;
  }
  return pointer;
}

/** Whether a response or a receipt may contain a key. */
export function isPlainKey(key: string): boolean {
  return PLAIN.test(key);
}
