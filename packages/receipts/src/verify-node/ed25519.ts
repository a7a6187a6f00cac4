import { verifyEd25519 } from "@countersign/core/verify";
import { loadSodium } from "../base/sodium.js";
import type { SignatureVerifier } from "../note/verify-note.js";

/**
 * libsodium's verification if the optional package is installed, otherwise Node's. Node decides
 * again about signatures that libsodium rejects: its rules are stricter, and the result must not
 * depend on the library.
 */
export async function loadFastVerifier(): Promise<SignatureVerifier> {
  const sodium = loadSodium();
  if (sodium === undefined) return verifyEd25519;
  return (publicKey, message, signature) =>
    (publicKey.length === 32 &&
      signature.length === 64 &&
      sodium.crypto_sign_verify_detached(signature, message, publicKey)) ||
    verifyEd25519(publicKey, message, signature);
}
