import { decodeHex } from "../bytes/hex.js";
import { assertLength } from "./encoding.js";

// The y coordinates of the eight points of small order (the sign bit of x is ignored when comparing).
const SMALL_ORDER_Y: readonly Uint8Array[] = [
  decodeHex(`00${"00".repeat(31)}`),
  decodeHex(`01${"00".repeat(31)}`),
  decodeHex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"),
  decodeHex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"),
  decodeHex(`ec${"ff".repeat(30)}7f`),
];

// The order of the base point, little-endian (RFC 8032 §5.1).
const GROUP_ORDER = decodeHex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");

/**
 * Whether a public key has small order or a non-canonical encoding.
 *
 * With a small-order key one signature is valid for many messages, so it does not prove who signed.
 * Verifiers disagree on non-canonical encodings; rejecting them makes all runtimes agree.
 */
export function isWeakPublicKey(key: Uint8Array): boolean {
  return SMALL_ORDER_Y.some((y) => sameY(key, y)) || isNonCanonicalY(key);
}

/**
 * Whether a signature can be valid, decided before any curve arithmetic and the same in every
 * runtime.
 *
 * @throws CountersignError `ERR_ED25519_LENGTH` unless the key has 32 and the signature 64 bytes
 */
export function isStrict(publicKey: Uint8Array, signature: Uint8Array): boolean {
  assertLength("public key", publicKey);
  assertLength("signature", signature);
  return !isWeakPublicKey(publicKey) && hasCanonicalScalar(signature);
}

/** Whether the scalar half of a signature is below the group order (RFC 8032 §5.1.7, step 1). */
function hasCanonicalScalar(signature: Uint8Array): boolean {
  for (let index = 31; index >= 0; index--) {
    const scalar = signature[32 + index] ?? 0;
    const bound = GROUP_ORDER[index] ?? 0;
    if (scalar !== bound) return scalar < bound;
  }
  return false;
}

function sameY(key: Uint8Array, y: Uint8Array): boolean {
  if (((key[31] ?? 0) & 0x7f) !== y[31]) return false;
  for (let index = 0; index < 31; index++) if (key[index] !== y[index]) return false;
  return true;
}

/** y ≥ 2^255 − 19 */
function isNonCanonicalY(key: Uint8Array): boolean {
  if ((key[0] ?? 0) < 0xed || ((key[31] ?? 0) & 0x7f) !== 0x7f) return false;
  for (let index = 1; index < 31; index++) if (key[index] !== 0xff) return false;
  return true;
}
