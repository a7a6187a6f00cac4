import { CountersignError } from "../errors/error.js";

const COMMON = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const STANDARD = `${COMMON}+/`;
const URL_SAFE = `${COMMON}-_`;
const STANDARD_VALUES = valuesOf(STANDARD);
const URL_SAFE_VALUES = valuesOf(URL_SAFE);

/** Bytes as base64 (RFC 4648 §4) with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  const text = encode(bytes, STANDARD);
  return text + "=".repeat((4 - (text.length % 4)) % 4);
}

/** Bytes as base64url (RFC 4648 §5) without padding, as JOSE writes it. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encode(bytes, URL_SAFE);
}

/**
 * Decodes base64. Padding is required and unused bits must be zero: one byte string has one text.
 *
 * @throws CountersignError `ERR_BYTES_BASE64` with the offset of the first invalid character
 */
export function decodeBase64(text: string): Uint8Array {
  if (text.length % 4 !== 0) throw base64Error(text.length);
  let end = text.length;
  if (text.endsWith("==")) end -= 2;
  else if (text.endsWith("=")) end -= 1;
  return decode(text, end, STANDARD_VALUES);
}

/**
 * Decodes base64url. Padding is rejected and unused bits must be zero: one byte string has one
 * text.
 *
 * @throws CountersignError `ERR_BYTES_BASE64` with the offset of the first invalid character
 */
export function decodeBase64Url(text: string): Uint8Array {
  return decode(text, text.length, URL_SAFE_VALUES);
}

function valuesOf(alphabet: string): Int8Array {
  const values = new Int8Array(128).fill(-1);
  for (let value = 0; value < alphabet.length; value++) values[alphabet.charCodeAt(value)] = value;
  return values;
}

function encode(bytes: Uint8Array, alphabet: string): string {
  let text = "";
  let pending = 0;
  let bits = 0;
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    bits += 8;
    while (bits >= 6) {
      bits -= 6;
      text += alphabet.charAt((pending >> bits) & 63);
    }
    pending &= 63;
  }
  return bits === 0 ? text : text + alphabet.charAt((pending << (6 - bits)) & 63);
}

function decode(text: string, end: number, values: Int8Array): Uint8Array {
  if (end % 4 === 1) throw base64Error(end - 1);
  const bytes = new Uint8Array(Math.floor((end * 3) / 4));
  let pending = 0;
  let bits = 0;
  let written = 0;
  for (let index = 0; index < end; index++) {
    const unit = text.charCodeAt(index);
    const value = unit < 128 ? (values[unit] ?? -1) : -1;
    if (value < 0) throw base64Error(index);
    pending = ((pending << 6) | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[written++] = (pending >> bits) & 255;
    }
  }
  // Nonzero unused bits would let several texts encode the same bytes (RFC 4648 §3.5).
  if ((pending & ((1 << bits) - 1)) !== 0) throw base64Error(end - 1);
  return bytes;
}

function base64Error(offset: number): CountersignError {
  return new CountersignError("ERR_BYTES_BASE64", `not strict base64 at character ${offset}`, {
    offset,
  });
}
