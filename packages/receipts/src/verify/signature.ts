import { encodeHex } from "@countersign/core";
import { verifyEd25519 } from "@countersign/core/verify";
import { parseKeyText, parseSignatureText } from "../keys/key-text.js";
import { leafHash } from "../merkle/hash.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import {
  BATCH_PREFIX,
  batchRoot,
  batchRootMessage,
  parseBatchSignature,
} from "../receipt/batch-signature.js";

/** Verifies receipt signatures of both kinds, checking each batch root once. */
export type ReceiptSignatures = {
  /** Whether the signature string fits the signed bytes under the key string. */
  verify(body: Uint8Array, kernelKey: string, signature: string): Promise<boolean>;
};

// Groups of several gateways interleave in one log; a few hundred open groups are plenty.
const MAX_CACHED_ROOTS = 256;

/** Whether a signature string is of the batch kind. */
export function isBatchSignature(signature: string): boolean {
  return signature.startsWith(BATCH_PREFIX);
}

/** Makes a verifier of receipt signatures over an Ed25519 check (the runtime's own by default). */
export function createReceiptSignatures(
  check: SignatureVerifier = verifyEd25519,
): ReceiptSignatures {
  const roots = new Map<string, boolean>();
  const keys = new Map<string, Uint8Array>();
  const keyOf = (text: string): Uint8Array => {
    let key = keys.get(text);
    if (key === undefined) {
      key = parseKeyText(text);
      if (keys.size >= MAX_CACHED_ROOTS) keys.clear();
      keys.set(text, key);
    }
    return key;
  };
  return {
    async verify(body, kernelKey, signature) {
      const key = keyOf(kernelKey);
      if (!isBatchSignature(signature)) return check(key, body, parseSignatureText(signature));
      const batch = parseBatchSignature(signature);
      const root = batchRoot(leafHash(body), batch);
      if (root === undefined) return false;
      const name = `${kernelKey}/${batch.size}/${encodeHex(root)}/${encodeHex(batch.rootSignature)}`;
      const known = roots.get(name);
      if (known !== undefined) return known;
      const holds = await check(key, batchRootMessage(batch.size, root), batch.rootSignature);
      const oldest = roots.size >= MAX_CACHED_ROOTS ? roots.keys().next().value : undefined;
      if (oldest !== undefined) roots.delete(oldest);
      roots.set(name, holds);
      return holds;
    },
  };
}
