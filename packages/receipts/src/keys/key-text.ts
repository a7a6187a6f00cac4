import type { CountersignError } from "@countersign/core";
import { decodeHex, encodeHex } from "@countersign/core";
import { formatError } from "../receipt/errors.js";

const PREFIX = "ed25519:";

function refuse(member: "kernel_key" | "signature", reason: string): CountersignError {
  return formatError("ERR_RECEIPT_SIGNATURE", `${member}: ${reason}`, { member, reason });
}

function decode(member: "kernel_key" | "signature", text: string, bytes: number): Uint8Array {
  const hex = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : text;
  if (hex.length !== bytes * 2) throw refuse(member, `not ${bytes} bytes of hex`);
  try {
    return decodeHex(hex);
  } catch (cause) {
    const reason = "not hex";
    throw formatError("ERR_RECEIPT_SIGNATURE", `${member}: ${reason}`, { member, reason }, cause);
  }
}

/** Reads a public key: `ed25519:` and hex as we write it, or Chio's bare hex. */
export function parseKeyText(text: string): Uint8Array {
  return decode("kernel_key", text, 32);
}

/** Reads a single signature: `ed25519:` and hex as we write it, or Chio's bare hex. */
export function parseSignatureText(text: string): Uint8Array {
  return decode("signature", text, 64);
}

/** `ed25519:` and lower-case hex: the canonical form of a key in lists and histories. */
export function encodeKeyText(publicKey: Uint8Array): string {
  if (publicKey.length !== 32) throw new TypeError("an Ed25519 public key is 32 bytes");
  return PREFIX + encodeHex(publicKey);
}

/** `ed25519:` and lower-case hex of a single signature. */
export function encodeSignatureText(signature: Uint8Array): string {
  if (signature.length !== 64) throw new TypeError("an Ed25519 signature is 64 bytes");
  return PREFIX + encodeHex(signature);
}
