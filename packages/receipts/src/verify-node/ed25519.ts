import { createRequire } from "node:module";
import { verifyEd25519 } from "@countersign/core/verify";
import type { SignatureVerifier } from "../note/verify-note.js";

type Sodium = {
  crypto_sign_verify_detached(
    signature: Uint8Array,
    message: Uint8Array,
    publicKey: Uint8Array,
  ): boolean;
};

function isSodium(value: unknown): value is Sodium {
  return (
    typeof value === "object" &&
    value !== null &&
    "crypto_sign_verify_detached" in value &&
    typeof value.crypto_sign_verify_detached === "function"
  );
}

/** The name is a value, so that no bundler insists on the optional package. */
const OPTIONAL_PACKAGE: string = "sodium-native";

function loadSodium(): Sodium | undefined {
  try {
    // Required: an import reads its whole source for names first, 40 ms in each thread.
    const sodium: unknown = createRequire(import.meta.url)(OPTIONAL_PACKAGE);
    return isSodium(sodium) ? sodium : undefined;
  } catch {
    return undefined;
  }
}

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
