import { decodeHex } from "@countersign/core";
import { HASH_BYTES } from "../merkle/hash.js";
import { hashBytes, latin1Hash } from "../merkle/latin1-hash.js";
import type { Latin1Hash } from "../merkle/latin1-hash.js";
import type { SignatureVerifier } from "../note/verify-note.js";
import {
  batchRootMessage,
  decodePathHash,
  PATH_HASH_CHARACTERS,
  splitBatchSignature,
} from "../receipt/batch-signature.js";

/** A node under a valid root signature, and the rest of its path. */
type KnownNode = { readonly hash: Latin1Hash; readonly rest: string };

type Group = {
  readonly key: string;
  readonly size: number;
  readonly nodes: Map<number, KnownNode>;
};

/** More than the width of any level: level and index form one number. */
const LEVEL = 2 ** 20;
const node = Buffer.alloc(1 + 2 * HASH_BYTES, 1);

/**
 * Follows the paths of batch signatures up to a root with a valid signature, or to a node that an
 * earlier path of the group verified. It does the same as `createBatchVerifier`, synchronously and
 * with hashes as Latin-1 strings. After the first `false` do not use it again: the general verifier
 * takes over the bundle.
 */
export class BatchPaths {
  readonly #check: SignatureVerifier;
  readonly #groups = new Map<string, Group>();

  constructor(check: SignatureVerifier) {
    this.#check = check;
  }

  /** Whether the signature is valid for a leaf; throws when it is malformed. */
  holds(leaf: Latin1Hash, key: { text: string; bytes: Uint8Array }, signature: string): boolean {
    const { index, size, rootSignature, path } = splitBatchSignature(signature);
    let group = this.#groups.get(rootSignature);
    if (group === undefined) {
      group = { key: key.text, size, nodes: new Map() };
      this.#groups.set(rootSignature, group);
    } else if (group.size !== size || group.key !== key.text) return false;
    let own = leaf;
    let rest = path;
    let at = index;
    for (let level = 0, width = size; ; level += 1, width = Math.ceil(width / 2)) {
      const place = level * LEVEL + at;
      const known = group.nodes.get(place);
      if (known !== undefined) return known.hash === own && known.rest === rest;
      group.nodes.set(place, { hash: own, rest });
      if (width === 1) break;
      const isRight = at % 2 === 1;
      // The last node of an odd level has no sibling: it moves up unchanged.
      if (isRight || at + 1 < width) {
        if (rest === "") return false;
        node.set(decodePathHash(rest), isRight ? 1 : 1 + HASH_BYTES);
        node.write(own, isRight ? 1 + HASH_BYTES : 1, HASH_BYTES, "latin1");
        rest = rest.slice(PATH_HASH_CHARACTERS);
        own = latin1Hash(node);
      }
      at = Math.floor(at / 2);
    }
    // Only the first path of a group gets here; the others stop at a known node.
    const message = batchRootMessage(size, hashBytes(own));
    return rest === "" && this.#check(key.bytes, message, decodeHex(rootSignature)) === true;
  }
}
