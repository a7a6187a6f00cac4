import { encodeBase64Url, encodeHex } from "@countersign/core";
import { leafHash, nodeHash } from "../merkle/hash.js";
import { BATCH_PREFIX, batchRootMessage, MAX_BATCH_SIZE } from "./batch-signature.js";

type Node = { readonly hash: Uint8Array; text?: string };

// A node is part of many paths: encode it once.
function textOf(node: Node): string {
  return (node.text ??= encodeBase64Url(node.hash));
}

function buildLevels(leaves: Node[]): Node[][] {
  const levels: Node[][] = [leaves];
  for (let level = leaves; level.length > 1;) {
    const above: Node[] = [];
    for (let index = 0; index < level.length; index += 2) {
      const left = level[index] as Node;
      const right = level[index + 1];
      above.push(right === undefined ? left : { hash: nodeHash(left.hash, right.hash) });
    }
    levels.push(above);
    level = above;
  }
  return levels;
}

/** A group of receipt bodies under one root, waiting for the root's signature. */
export type PreparedBatch = {
  /** The message that the group's key must sign. */
  readonly message: Uint8Array;
  /** One signature string per body, in order. */
  signatures(rootSignature: Uint8Array): string[];
};

/** Hashes a group of receipt bodies (`receiptBody`) into one tree. All must have the same key. */
export function prepareBatch(bodies: readonly Uint8Array[]): PreparedBatch {
  const size = bodies.length;
  if (size < 1 || size > MAX_BATCH_SIZE) {
    throw new TypeError(`a batch holds 1 to ${MAX_BATCH_SIZE} receipts`);
  }
  const levels = buildLevels(bodies.map((body) => ({ hash: leafHash(body) })));
  const root = levels.at(-1)?.[0] as Node;
  return {
    message: batchRootMessage(size, root.hash),
    signatures(rootSignature) {
      if (rootSignature.length !== 64) throw new TypeError("an Ed25519 signature is 64 bytes");
      const shared = `/${size}:${encodeHex(rootSignature)}:`;
      return bodies.map((_, index) => {
        let text = `${BATCH_PREFIX}${index}${shared}`;
        let at = index;
        for (const level of levels) {
          const sibling = level[at % 2 === 0 ? at + 1 : at - 1];
          // The last node of an odd level has no sibling: it moves up unchanged.
          if (sibling !== undefined) text += textOf(sibling);
          at = Math.floor(at / 2);
        }
        return text;
      });
    },
  };
}

/**
 * Signs a group of receipt bodies with one signature; returns one signature string per body, each
 * of which verifies alone. Do not batch blocked receipts: verifiers reject them.
 */
export function buildBatch(
  bodies: readonly Uint8Array[],
  signRoot: (message: Uint8Array) => Uint8Array,
): string[] {
  const batch = prepareBatch(bodies);
  return batch.signatures(signRoot(batch.message));
}
