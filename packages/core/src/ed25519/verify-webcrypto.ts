import { isStrict } from "./strictness.js";
import { asSource, subtle, supported } from "./webcrypto.js";
import type { WebCryptoKey } from "./webcrypto.js";

export { exportPublicKeyPem, importPublicKeyPem } from "./public-key.js";

/**
 * Whether an Ed25519 signature (RFC 8032) of a message is valid for a raw public key: the interface
 * of the Node module, implemented with WebCrypto.
 *
 * @throws CountersignError `ERR_ED25519_LENGTH` unless the key has 32 and the signature 64 bytes;
 *   rejects with `ERR_ED25519_UNAVAILABLE` where WebCrypto has no Ed25519
 */
export function verifyEd25519(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean | Promise<boolean> {
  if (!isStrict(publicKey, signature)) return false;
  return verify(asSource(publicKey), asSource(message), asSource(signature));
}

type Source = ReturnType<typeof asSource>;

async function verify(publicKey: Source, message: Source, signature: Source): Promise<boolean> {
  const crypto = subtle();
  let key: WebCryptoKey;
  try {
    key = await supported(crypto.importKey("raw", publicKey, "Ed25519", false, ["verify"]));
  } catch (error) {
    // For bytes that are not a curve point some runtimes fail here, others in `verify`: both mean
    // invalid.
    if (error instanceof DOMException && error.name === "DataError") return false;
    throw error;
  }
  return crypto.verify("Ed25519", key, signature, message);
}
