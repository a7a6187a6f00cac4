import { createPublicKey, verify } from "node:crypto";
import type { KeyObject } from "node:crypto";
import { encodeHex } from "../bytes/hex.js";
import { encodeDer } from "./encoding.js";
import { isStrict } from "./strictness.js";

export { exportPublicKeyPem, importPublicKeyPem } from "./public-key.js";

/** Parsing a key costs as much as a verification (130 µs), so the last few are cached. */
const CACHED_KEYS = 64;
const cache = new Map<string, KeyObject>();

/**
 * Whether an Ed25519 signature (RFC 8032) of a message is valid for a raw public key.
 *
 * Never valid: a weak public key (small order, non-canonical) and a signature whose scalar is not
 * reduced. Synchronous in Node, a promise in browsers; use `await` for both.
 *
 * @throws CountersignError `ERR_ED25519_LENGTH` unless the key has 32 and the signature 64 bytes
 */
export function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean | Promise<boolean> {
  if (!isStrict(publicKey, signature)) return false;
  return verify(null, message, keyObject(publicKey), signature);
}

function keyObject(publicKey: Uint8Array): KeyObject {
  const name = encodeHex(publicKey);
  const known = cache.get(name);
  if (known !== undefined) return known;
  const key = createPublicKey({
    key: Buffer.from(encodeDer("PUBLIC KEY", publicKey)),
    format: "der",
    type: "spki",
  });
  // First in, first out: hostile keys can evict ours, which costs only time.
  const oldest = cache.size < CACHED_KEYS ? undefined : cache.keys().next().value;
  if (oldest !== undefined) cache.delete(oldest);
  cache.set(name, key);
  return key;
}
