import { hash } from "node:crypto";

const HASH_BYTES = 32;

/** SHA-256 of bytes, or of a string's UTF-8 form. */
export function sha256(data: Uint8Array | string): Uint8Array {
  // Requesting a string and decoding it costs half as much as requesting a buffer (0.54 against
  // 1.07 µs).
  const text = hash("sha256", data, "binary");
  const bytes = new Uint8Array(HASH_BYTES);
  for (let at = 0; at < HASH_BYTES; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** SHA-256 as lower-case hexadecimal. */
export function sha256Hex(data: Uint8Array | string): string {
  return hash("sha256", data, "hex");
}
