import { sha256 as digest } from "@noble/hashes/sha2.js";
import { encodeHex } from "./hex.js";

const encoder = new TextEncoder();

/** SHA-256 of bytes, or of a string's UTF-8 form. */
export function sha256(data: Uint8Array | string): Uint8Array {
  return digest(typeof data === "string" ? encoder.encode(data) : data);
}

/** SHA-256 as lower-case hexadecimal. */
export function sha256Hex(data: Uint8Array | string): string {
  return encodeHex(sha256(data));
}
