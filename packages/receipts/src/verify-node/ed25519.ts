import { verifyEd25519 } from "@countersign/core/verify";
import { loadSodium } from "../base/sodium.js";
import type { SignatureVerifier } from "../note/verify-note.js";

/**
 * libsodium's check where the optional package is installed, Node's own otherwise. What libsodium
 * refuses is asked again: its rules are the stricter ones and the answer must not depend on it.
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
