import { verifyEd25519 } from "@countersign/core/verify";
import { parseKeyText, parseSignatureText } from "../keys/key-text.js";
import { leafHash } from "../merkle/hash.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import { BATCH_PREFIX } from "../receipt/batch-signature.js";
import { createBatchVerifier } from "./batch.js";

/** Verifies receipt signatures of both kinds. */
export type ReceiptSignatures = {
  /** Whether the signature string is valid for the signed bytes and the key string. */
  verify(body: Uint8Array, kernelKey: string, signature: string): Promise<boolean>;
};

const MAX_CACHED_KEYS = 256;

/** Whether a signature string is a batch signature. */
export function isBatchSignature(signature: string): boolean {
  return signature.startsWith(BATCH_PREFIX);
}

/**
 * Creates a verifier of receipt signatures over an Ed25519 implementation (default: the runtime's).
 */
export function createReceiptSignatures(
  check: SignatureVerifier = verifyEd25519,
): ReceiptSignatures {
  const keys = new Map<string, Uint8Array>();
  const verifyBatch = createBatchVerifier(check);
  const keyOf = (text: string): Uint8Array => {
    let key = keys.get(text);
    if (key === undefined) {
      key = parseKeyText(text);
      if (keys.size >= MAX_CACHED_KEYS) keys.clear();
      keys.set(text, key);
    }
    return key;
  };
  return {
    async verify(body, kernelKey, signature) {
      const key = keyOf(kernelKey);
      return isBatchSignature(signature)
        ? verifyBatch(key, kernelKey, leafHash(body), signature)
        : check(key, body, parseSignatureText(signature));
    },
  };
}
