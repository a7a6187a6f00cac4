import { CountersignError } from "../errors/error.js";

const HEX_OF_BYTE: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, "0"),
);

/** Bytes as lower-case hexadecimal. */
export function encodeHex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX_OF_BYTE[byte];
  return text;
}

/**
 * Decodes hexadecimal in either letter case, and nothing else (no spaces, no `0x`).
 *
 * @throws CountersignError `ERR_BYTES_HEX` with the offset of the first invalid character
 */
export function decodeHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  for (let index = 0; index < bytes.length; index++) {
    const high = digit(text.charCodeAt(index * 2));
    const low = digit(text.charCodeAt(index * 2 + 1));
    if (high < 0) throw hexError(index * 2);
    if (low < 0) throw hexError(index * 2 + 1);
    bytes[index] = (high << 4) | low;
  }
  if (text.length % 2 !== 0) throw hexError(text.length - 1);
  return bytes;
}

function digit(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48;
  const lower = unit | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

function hexError(offset: number): CountersignError {
  return new CountersignError("ERR_BYTES_HEX", `not hexadecimal at character ${offset}`, {
    offset,
  });
}
