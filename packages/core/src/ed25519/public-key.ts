import { CountersignError } from "../errors/error.js";
import { assertLength, decodePem, encodePem } from "./encoding.js";
import { isWeakPublicKey } from "./strictness.js";

/**
 * The 32 raw bytes of a public key in PEM form (SPKI, RFC 8410).
 *
 * @throws CountersignError `ERR_ED25519_PEM`, or `ERR_ED25519_WEAK_KEY` for a key under which
 * signatures prove nothing
 */
export function importPublicKeyPem(pem: string): Uint8Array {
  const key = decodePem("PUBLIC KEY", pem);
  if (isWeakPublicKey(key)) {
    throw new CountersignError("ERR_ED25519_WEAK_KEY", "weak Ed25519 public key", {});
  }
  return key;
}

/** The PEM form (SPKI) of a raw public key. */
export function exportPublicKeyPem(publicKey: Uint8Array): string {
  assertLength("public key", publicKey);
  return encodePem("PUBLIC KEY", publicKey);
}
