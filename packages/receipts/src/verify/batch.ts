import { decodeHex, equalBytes } from "@countersign/core";
import { nodeHash } from "../merkle/hash.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import {
  batchRootMessage,
  decodePathHash,
  PATH_HASH_CHARACTERS,
  splitBatchSignature,
} from "../receipt/batch-signature.js";

/** Verifies batch signatures and shares the work within a group. */
export type BatchVerifier = (
  key: Uint8Array,
  keyText: string,
  leaf: Uint8Array,
  signature: string,
) => Promise<boolean>;

/** A node under a valid root signature, and the rest of its path. */
type KnownNode = { readonly hash: Uint8Array; readonly rest: string };
type Visited = KnownNode & { readonly place: number };

// Groups of several gateways interleave in one log. At most about 25 MB in total.
const MAX_GROUPS = 16;
const MAX_KNOWN_NODES = 8192;
/** More than the width of any level: level and index form one number. */
const LEVEL = 2 ** 20;

/**
 * Creates a verifier of batch signatures. A path that reaches a known node of the same root
 * signature must have the same hash and the same rest, so the result is that of the whole path.
 */
export function createBatchVerifier(check: SignatureVerifier): BatchVerifier {
  const groups = new Map<string, Map<number, KnownNode>>();
  const remember = (name: string, visited: readonly Visited[]): void => {
    let group = groups.get(name);
    if (group === undefined) {
      const oldest = groups.size >= MAX_GROUPS ? groups.keys().next().value : undefined;
      if (oldest !== undefined) groups.delete(oldest);
      group = new Map();
      groups.set(name, group);
    }
    for (const { place, hash, rest } of visited) {
      if (group.size < MAX_KNOWN_NODES) group.set(place, { hash, rest });
    }
  };
  return async (key, keyText, leaf, signature) => {
    const { index, size, rootSignature, path } = splitBatchSignature(signature);
    const name = `${keyText}/${size}/${rootSignature}`;
    const group = groups.get(name);
    const visited: Visited[] = [];
    let hash = leaf;
    let rest = path;
    let at = index;
    for (let level = 0, width = size; ; level += 1, width = Math.ceil(width / 2)) {
      const place = level * LEVEL + at;
      const known = group?.get(place);
      if (known !== undefined) {
        if (!equalBytes(known.hash, hash) || known.rest !== rest) return false;
        remember(name, visited);
        return true;
      }
      visited.push({ place, hash, rest });
      if (width === 1) break;
      const isRight = at % 2 === 1;
      // The last node of an odd level has no sibling: it moves up unchanged.
      if (isRight || at + 1 < width) {
        if (rest === "") return false;
        const sibling = decodePathHash(rest);
        rest = rest.slice(PATH_HASH_CHARACTERS);
        hash = isRight ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
      }
      at = Math.floor(at / 2);
    }
    if (rest !== "") return false;
    const holds = await check(key, batchRootMessage(size, hash), decodeHex(rootSignature));
    if (holds) remember(name, visited);
    return holds;
  };
}
